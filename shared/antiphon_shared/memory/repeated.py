"""Reports to a reader on repeated writes, and on writes of unknown outcome. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from antiphon_shared.memory.layers import ToolUse
from antiphon_shared.text.excerpt import one_line

_MESSAGE_CHARACTERS = 300


class Repetition(NamedTuple):
    """A write that was requested again and not made again."""

    kind: Literal["write_repeated", "write_refused"]
    use: ToolUse
    message: str


def repetitions(uses: Iterable[ToolUse]) -> Iterator[Repetition]:
    """Yield the writes that were requested again: those answered by the first result, and those refused."""
    for use in uses:
        if use.repeated and use.outcome == "ok":
            again = f"was asked for again in round {use.round}, as in call {use.repeated}"
            yield Repetition("write_repeated", use, f"`{use.tool}` {again}; it was not done again.")
        elif use.outcome == "repeated_write":
            why = f": {one_line(use.what_happened, _MESSAGE_CHARACTERS)}" if use.what_happened else "."
            yield Repetition(
                "write_refused", use, f"`{use.tool}` was not done again in round {use.round}{why}"
            )


def calls_of_unknown_outcome(uses: Sequence[ToolUse]) -> list[ToolUse]:
    """Return calls of unknown outcome that no later call has settled, without repetitions that did not run."""
    repeated = {(use.tool, use.repeated) for use in uses if use.outcome == "ok"}
    settled = repeated | {(use.tool, use.settles) for use in uses}
    return [
        use
        for use in uses
        if use.outcome == "outcome_unknown" and not use.repeated and (use.tool, use.call_id) not in settled
    ]
