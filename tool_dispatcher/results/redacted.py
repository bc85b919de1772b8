"""What came of a call, without what must not be seen. Pure."""

from collections.abc import Sequence
from typing import Any

from antiphon_shared.text.redaction import MARKED_CHARACTERS_MIN, Redactor
from antiphon_shared.tools.calls import ToolError


def redacted(outcome: Any, redactor: Redactor) -> Any:
    """JSON values, or a ToolError, with every secret redacted; the same object when there is none."""
    if not isinstance(outcome, ToolError):
        return redactor.json(outcome)
    said = outcome.model_dump(mode="json")
    clean = redactor.json(said)
    return outcome if clean is said else ToolError.model_validate(clean)


def without(secrets: Sequence[str], outcome: Any) -> Any:
    """The same for secrets of one call: its arguments that are marked so."""
    return redacted(outcome, Redactor(secrets, MARKED_CHARACTERS_MIN)) if secrets else outcome
