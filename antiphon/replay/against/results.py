"""The output of `replay verify --json`, of this and other releases, as far as it is compared. Pure."""

from typing import Any

from antiphon_shared.process.errors import UnreadableEvent
from pydantic import BaseModel, ConfigDict, ValidationError

from antiphon.replay.next_step import Next


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class DifferingValue(_Read):
    """A value that differs from the recorded one."""

    event: int
    type: str
    component: str
    output: str
    path: str
    expected: Any = None
    got: Any = None


class Result(_Read):
    """One recording, verified by one code."""

    path: str
    result: str
    session_id: str = ""
    error: str = ""
    divergences: tuple[DifferingValue, ...] = ()
    divergences_in_all: int = 0
    unchecked: dict[str, int] = {}
    goes_on: Next | None = None


class _Document(_Read):
    recordings: tuple[Result, ...]


def read(document: bytes | str) -> tuple[Result, ...]:
    """Return the results in a document. Raises UnreadableEvent if it is not one."""
    try:
        return _Document.model_validate_json(document).recordings
    except ValidationError as error:
        raise UnreadableEvent(
            f"its output is not the result of a verification: {error.errors()[0]['msg']}."
        ) from None
