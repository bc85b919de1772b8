"""The context of a call, as the tool's function receives it."""

from dataclasses import dataclass
from datetime import datetime

from antiphon_shared.values import DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of a call, for a parameter annotated with this class; that parameter is not in the tool's schema."""

    idempotency_key: str
    """A key of this call's effect, the same across retries and takeovers. Pass it to the service you write to."""
    session_id: str
    call_id: str
    """The id that the model gave the call."""
    attempt: int
    """The number of this attempt, from 1. Above 1, another worker may have begun this call before."""
    deadline: datetime
    """The time after which the result is dropped; timezone-aware."""
    tenant: str = DEFAULT_TENANT
    """The tenant that the session runs for."""
    fence: int = 0
    """A number that increases with every takeover of the call; a service may refuse lower ones. 0 for reads."""
