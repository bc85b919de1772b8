"""The context of a call, for the tool's function."""

from dataclasses import dataclass
from datetime import datetime

from antiphon_shared.values import DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context passed to a tool that has a parameter annotated with this class; it is not in the tool's schema."""

    idempotency_key: str
    """The name of this call's effect, the same across retries and takeovers. Pass it to the service you write to."""
    session_id: str
    call_id: str
    """The id that the model gave the call."""
    attempt: int
    """Counts from 1; a higher number means that another worker may have begun this call before."""
    deadline: datetime
    """The time after which the result is dropped; timezone-aware."""
    tenant: str = DEFAULT_TENANT
    """The tenant that the session runs for."""
    fence: int = 0
    """Increases with every takeover of the call; a service may refuse lower ones. 0 for reads."""
