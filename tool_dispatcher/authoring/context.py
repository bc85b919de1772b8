"""What a call knows of itself."""

from dataclasses import dataclass
from datetime import datetime

from antiphon_shared.values import DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Handed to a tool that has a parameter annotated with it; no part of the tool's schema."""

    idempotency_key: str
    """The name of this call's effect, the same across retries and takeovers. Pass it to what you write to."""
    session_id: str
    call_id: str
    """The model's id of the call."""
    attempt: int
    """Counts from 1; more says that another worker may have begun this call before."""
    deadline: datetime
    """When the result is no longer waited for; timezone-aware."""
    tenant: str = DEFAULT_TENANT
    """On whose behalf the session runs."""
    fence: int = 0
    """Counts up with every worker that takes the call over; a service may refuse lower ones. 0 for reads."""
