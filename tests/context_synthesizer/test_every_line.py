"""Every line of a briefing, with texts that just fit into it and texts that do not: every_line.json.

After an intended change, run `python -m tests.context_synthesizer.test_every_line`, and review the output.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.memory.layers import EarlierQuestion, Fact, ReasoningNote, Summary, ToolUse
from antiphon_shared.memory.note import Note

from context_synthesizer import render
from context_synthesizer.render import Piece
from tests.kept_forms import Reader, differences, write
from tests.sampled import readers_of_samples

KEPT = Path(__file__).with_name("every_line.json")


def _texts(*lengths: int) -> tuple[str, ...]:
    """Return texts of these lengths, each with a last word of a letter, which shows a cut."""
    return tuple("a" * (length - 2) + " b" for length in lengths)


_SHORT, _LONG = _texts(120, 121, 160, 161, 200, 201), _texts(400, 401, 2_000, 2_001)
_NOTES = (
    None,
    Note(concluded=("It is lit.", "It is long."), doubts=("Is it old?",), plans=("Look.",)),
    Note(plans=("Look.",)),
)
_USE = ToolUse(round=2, call_id="c1", tool="find", arguments={"q": "mole"}, outcome="ok", facts=("F1-F3",))
_CHANGES: tuple[dict[str, Any], ...] = (
    {},
    *({"arguments": {"q": text}} for text in _texts(112, 113, 392, 393)),  # `{"q": ""}` is 8 more
    *({"tool": text} for text in _texts(200, 201)),
    *({"facts": (), "message": text} for text in _texts(120, 121, 400, 401)),
    *(
        {"outcome": "timeout", "message": text, "what_happened": text, "advice": advice, "facts": ()}
        for text in _texts(240, 241, 800, 801)
        for advice in ("", "Wait.")
    ),
    {"handle": 'a "b"'},
    {"repeated_because": "It ran before."},
    {"substitute": "other", "substitute_because": "find was down.", "is_untrusted": True},
)
_USES = tuple(_USE.model_copy(update=one) for one in _CHANGES)
_SAMPLES: dict[str, tuple[Any, ...]] = {
    "str": ("", *_SHORT),
    "int": (render.LONG, render.SHORT),
    "bool": (False, True),
    "Fact": tuple(Fact(id="F9", document="D1", position="$", statement=text) for text in _SHORT),
    "ToolUse": _USES,
    "ReasoningNote": tuple(
        ReasoningNote(round=3, text=text, note=note) for note in _NOTES for text in (" ", *_SHORT)
    ),
    "EarlierQuestion": tuple(
        EarlierQuestion(call_id="turn_1", question=text, status=status)
        for status in ("complete", "partial", "cancelled", "failed")
        for text in _SHORT
    ),
    "Summary": (Summary(round=2, text="It is lit.", facts=("F1-F3",)),),
    "Sequence[str]": tuple(
        tuple(f"F{2 * n}" for n in range(1, count)) for count in (2, 3, 5, 6, 7, 60, 90, 200)
    ),
    "Sequence[ToolUse]": tuple(
        [_USE.model_copy(update={"query": f"{n} {text}"}) for n in range(count)]
        for text in ("mole", *_LONG)
        for count in (1, 2, 6)
    ),
}
"""Samples by the annotation of a parameter."""


def _result_or_error(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: _text(read(text))


def _text(made: Any) -> Any:
    return (
        made.text
        if isinstance(made, Piece)
        else [_text(one) for one in made]
        if isinstance(made, tuple)
        else made
    )


READERS = tuple(replace(one, read=_result_or_error(one.read)) for one in readers_of_samples(render, _SAMPLES))


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_the_text_of_every_line_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
