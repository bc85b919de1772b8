"""The folded layers of a memory."""

import pytest
from antiphon_shared.memory.layers import MemoryDelta, ReasoningNote
from antiphon_shared.memory.note import Note
from antiphon_shared.memory.session_memory import Memory

QUERY = "Who teaches the MCP course? What does it cost?"


def after(*notes: Note) -> Memory:
    parts = (ReasoningNote(round=number, note=note) for number, note in enumerate(notes, 1))
    return Memory.of(QUERY, (MemoryDelta(reasoning=(one,)) for one in parts))


@pytest.mark.parametrize(
    ("notes", "still"),
    [
        ((), ("Who teaches the MCP course?", "What does it cost?")),
        ((Note(concluded=("x",)),), ("Who teaches the MCP course?", "What does it cost?")),
        ((Note(open=("Is Ada the teacher?",)),), ("Is Ada the teacher?",)),
        ((Note(open=("a?",)), Note(open=("b?", "c?"))), ("b?", "c?")),
        ((Note(answered=("Who teaches the MCP course? Ada [F3]",)),), ("What does it cost?",)),
        ((Note(open=("a?", "b?")), Note(answered=("A: yes [F1]",))), ("b?",)),
        ((Note(open=("a?",)), Note(answered=("a? yes",)), Note(plans=("stop",))), ()),
    ],
)
def test_open_questions_are_the_last_ones_listed_minus_those_answered_since(
    notes: tuple[Note, ...], still: tuple[str, ...]
) -> None:
    assert after(*notes).open_questions == still


def test_answered_questions_are_kept_once_oldest_first() -> None:
    memory = after(Note(answered=("a? 1", "b? 2")), Note(answered=("a? 1", "c? 3")))
    assert memory.answered == ("a? 1", "b? 2", "c? 3")


def test_a_memory_extended_by_one_delta_equals_one_read_as_a_whole() -> None:
    steps = [
        ReasoningNote(round=1, note=Note(open=("a?",), constraints=("cheap",), goal=("A course",))),
        ReasoningNote(round=2, text="No note."),
        ReasoningNote(
            round=3, note=Note(answered=("a? yes",), constraints=("near",), goal=("A good course",))
        ),
        ReasoningNote(round=4, text="No note."),
    ]
    deltas = [MemoryDelta(reasoning=(one,)) for one in steps]
    read_before = Memory(QUERY)
    for count, delta in enumerate(deltas, 1):
        read_before.intent_after(count)
        read_before = read_before.plus(delta)

        assert read_before.intent_after(count) == Memory.of(QUERY, deltas[:count]).intent_after(count)
