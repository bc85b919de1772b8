"""The errors of workflow files of which one part is left out, misspelt or replaced: every_fault.json.

After an intended change, run `python -m tests.shared.workflows.test_every_fault`, and review the output.
"""

import json
from pathlib import Path
from typing import Any

from antiphon_shared.workflows.form import read_file
from antiphon_shared.workflows.validate import problems_of

from tests.kept_forms import Reader, differences, write
from tests.variants import variants
from tool_dispatcher.catalogue import Registry, to_catalogue, tools_of

KEPT = Path(__file__).with_name("every_fault.json")
_CATALOGUE = to_catalogue(Registry(tools_of("tests.recordings.run_tools")))
_OTHERWISE = {"on_error": {"fallback": "otherwise"}}
_SOURCE: dict[str, Any] = {
    "domain": "rooms",
    "version": "1",
    "workflows": {
        "book": {
            "description": "Book a room.",
            "timeout_s": 60,
            "params": {
                "town": {"type": "str", "required": True, "example": "oslo", "description": "Where."},
                "nights": {"type": "int", "default": 2},
                "way": {"type": "str", "enum": ["cheap", "dear"], "default": "cheap"},
            },
            "graph": {
                "look": {
                    "call": "find",
                    "args": {"place": "$town"},
                    "on_error": {"retry": 2, "delay": 200, "backoff": "exponential", "fallback": "otherwise"},
                },
                "some": {
                    "type": "branch",
                    "depends_on": ["look"],
                    "on": [{"when": "$look.count > 1", "goto": "reserve"}, {"default": "none"}],
                },
                "reserve": {
                    "call": "reserve",
                    "args": {"room": "$look.rooms.0.id"},
                    "output": "room",
                    "compensate": {"call": "release", "args": {"reservation": "$room.reservation"}},
                },
                "none": {"type": "error", "message": "There is no room in $town."},
                "each": {
                    "type": "foreach",
                    "depends_on": ["reserve"],
                    "items": "range(0, 3)",
                    "as": "i",
                    "concurrency": 2,
                    "step": {"call": "count", "args": {"number": "$i"}},
                    "on_item_error": "collect",
                },
                "both": {
                    "type": "parallel",
                    "depends_on": ["reserve"],
                    "branches": {
                        "a": {"call": "find", "args": {"place": "a"}},
                        "b": {"workflow": "rest", "args": {"seconds": "$nights"}},
                    },
                    "on_partial_failure": "continue",
                    **_OTHERWISE,
                },
                "ask": {
                    "type": "yield",
                    "depends_on": ["both"],
                    "message": "Well?",
                    "expects": {"ok": "bool"},
                },
                "think": {
                    "type": "reason",
                    "depends_on": ["ask"],
                    "question": "Which of $look.rooms?",
                    "tools": ["find"],
                    "expects": {"id": "str"},
                    "max_rounds": 2,
                },
                "otherwise": {"call": "find", "args": {"place": "else"}},
            },
            "output": {"room": "${room?.reservation}", "way": "$way"},
        },
        "rest": {
            "description": "Wait.",
            "params": {"seconds": {"type": "int", "required": True, "example": 1}},
            "graph": {"rest": {"type": "wait", "seconds": "$seconds"}},
        },
    },
}
_VARIANTS = variants(_SOURCE)


def _problems(name: str) -> list[str]:
    file = read_file(json.dumps(_VARIANTS[name]), "it.yaml")
    found = [*file.problems, *(problems_of(file.specification, _CATALOGUE) if file.specification else ())]
    return [f"{one.severity} {one.code} {one.text}" for one in found]


READERS = (Reader("problems", _problems, (), tuple(_VARIANTS)),)


def test_the_message_of_every_fault_is_unchanged() -> None:
    assert differences(READERS[0], KEPT) == []


def test_a_file_without_a_fault_has_no_problem() -> None:
    assert _problems("as it is") == []


if __name__ == "__main__":
    write(READERS, KEPT)
