"""The classification of every answer of a server, and the reading of every form of a prompted model: every_form.json.

After an intended change, run `python -m tests.reasoning_engine.test_every_form`, and review the output.
"""

from pathlib import Path
from typing import Any

from reasoning_engine import failure, wires
from reasoning_engine.limits import headers
from reasoning_engine.limits.headers import limits_in
from reasoning_engine.prompted import form
from tests.kept_forms import Reader, differences, readers_of, write
from tests.rows import each_row

KEPT = Path(__file__).with_name("every_form.json")
_STATUSES = tuple(
    f"{status} {wire}"
    for status in (200, 301, *range(399, 433), 451, 499, *range(500, 512), 529, 599)
    for wire in ("messages", "chat")
)
_RESETS = (
    "1m0s",
    "1m59s",
    "2m",
    "2m0.1s",
    "1.5s",
    "60000ms",
    "119999.9ms",
    "0.001h",
    "0.0001d",
    "soon",
    "6m0",
)
_WAITS = ("0", "1", "7.5", "-1", "soon", "119", "120", "121", "1e9", "nan")


def _status(text: str) -> Any:
    status, _, wire = text.partition(" ")
    return failure.server_failure(int(status), {}, {"error": {"message": "It says so."}}, wire)  # type: ignore[arg-type]  # a table


def _kind(text: str) -> Any:
    """Return the failures for an error of that kind in the body, for both wire formats."""
    body = {"type": "error", "error": {"type": text, "code": text, "message": f"Too long: {text}"}}
    return [failure.server_failure(400, {}, body, wire) for wire in ("messages", "chat")]


def _message(text: str) -> Any:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": text}}
    return [failure.server_failure(400, {}, body, wire) for wire in ("messages", "chat")]


def _wait(text: str) -> Any:
    return [failure.server_failure(429, {name: text}, None) for name in ("retry-after", "retry-after-ms")]


def _reset(text: str) -> Any:
    """Return the state of a limit of chat completions that is fully available again after the time."""
    headers = {"limit": "60", "remaining": "30", "reset": text}
    return limits_in({f"x-ratelimit-{name}-requests": value for name, value in headers.items()}, "chat")


READERS = (
    Reader("status", _status, (), _STATUSES),
    Reader("kind", _kind, (failure,)),
    Reader("message", _message, (failure,)),
    Reader("wait", _wait, (), _WAITS),
    Reader("reset", _reset, (headers,), _RESETS),
    *readers_of(form, "read_form"),
    *readers_of(wires, "wire_of", "name_at_server", others=(failure,)),
)


@each_row("reader", READERS, ids=str)
def test_the_reading_of_every_form_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
