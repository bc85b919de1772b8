"""One changed character in a decision is named, at the event that it decides otherwise."""

from functools import cache
from pathlib import Path

import pytest

from antiphon.recording.files import read_lines
from tests.mutants.hunt import Hunted, Recordings, hunted

RECORDINGS = Path(__file__).parents[1] / "recordings"
MUTANTS_EACH = 2
MODULES = {
    "coordinator": (
        *("approvals", "decide", "endings", "ladder", "limits", "models"),
        *("offer", "opening", "people", "questions", "requests", "summaries"),
    ),
    "context_synthesizer": ("choice", "render", "select", "turn"),
    "reasoning_engine": ("ended", "prompt", "reply"),
    "tool_dispatcher.batch": ("answers", "dependencies", "plan", "schedule", "units"),
    "response_assembler": ("compose", "material", "missing", "partial", "uncertainty"),
    "antiphon_shared.memory": ("filing.file_round", "filing.parts", "note"),
}
_READ_BESIDE = (
    "what the shell reads beside an event: a replay is given what was read, whatever would be read today"
)
EXPLAINED = {
    'case AssemblyOverdue() | CancellationRequested() if session.phase != "assembling":': _READ_BESIDE,
    'case ComponentFailed(component="sesponse_assembler") if session.phase == "assembling":': _READ_BESIDE,
    'case ComponentFailed(component="response_assembler") if session.phase != "assembling":': _READ_BESIDE,
    "if pieces.units_least < room.left:": "a shortcut: what it passes over comes to the same, only later",
    "while grain < _GRAIN_MAX:": "a bound that no recorded result reaches",
    "return Built(ready, briefing.text, left_out[1] if left_out else None)": "the text goes into a document that the "
    "engine reads: there, at its request to the model, the difference is named",
}
"""Mutants that survive, or are named elsewhere, by what their line has become, and why that is right."""


@cache
def recordings() -> Recordings:
    return {path.name: list(read_lines(path)) for path in sorted(RECORDINGS.glob("*.jsonl"))}


@pytest.mark.parametrize("room", MODULES)
def test_a_changed_character_is_caught_and_named_where_it_decides_otherwise(room: str) -> None:
    modules = [f"{room}.{name}" for name in MODULES[room]]
    found = list(hunted(modules, MUTANTS_EACH, recordings()))
    assert len(found) > len(modules), "so few mutants show nothing"
    wrong = [one for one in found if not (one.is_caught and one.is_named_right)]
    assert [str(one.mutant) for one in wrong if one.mutant.after not in EXPLAINED] == []
    survived = [one for one in found if not one.is_caught and one.mutant.after not in EXPLAINED]
    assert len(survived) <= max(1, len(found) // 20), [_told(one) for one in survived]


def _told(one: Hunted) -> str:
    return f"{one.mutant}, which changes what came of {sorted(one.changed_at)} in {one.recording}"
