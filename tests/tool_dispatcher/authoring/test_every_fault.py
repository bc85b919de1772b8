"""The errors of contracts, arguments and files of hints of which one part does not fit: every_fault.json.

After an intended change, run `python -m tests.tool_dispatcher.authoring.test_every_fault`, and read the difference.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kept_forms import Reader, differences, write
from tests.variants import ODD, variants
from tool_dispatcher.authoring import contract, hint_file
from tool_dispatcher.authoring.failures import InvalidTool
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.authoring.validate import validate
from tool_dispatcher.catalogue import Registry

KEPT = Path(__file__).with_name("every_fault.json")
_NUMBERS = (*ODD, 0, 1, 10**9, True)
_OF_A_READ = {
    "mode": "parallel-safe",
    "timeout_s": 30,
    "slow_s": 5,
    "retry": {"attempts": 3},
    "backoff": {"strategy": "linear", "initial_ms": 100, "max_ms": 900},
    "cache_ttl_s": 60,
    "deterministic": True,
    "scopes": ["rooms.read"],
    "alternatives": [{"tool": "other", "arguments": {"place": "place"}}],
    "result_bytes_max": 5_000,
    "rounds": [1, 2],
    "rate_limit": {"calls": 5, "per_s": 60},
    "open_world": True,
    "pinned": True,
    "next": ["count"],
    "batch": {"tool": "find_all", "argument": "places", "items_max": 50},
}
_OF_A_WRITE = {
    "mode": "fan-out-bounded",
    "max_concurrency": 2,
    "error_propagation": "fail-fast",
    "idempotent": True,
    "idempotency_ttl_s": 90_000,
    "repeat": "ask",
    "depends_on": ["find"],
    "retry": 2,
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "required": ["place"],
    "additionalProperties": False,
    "properties": {
        "place": {"type": "string", "minLength": 2, "maxLength": 9},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "kinds": {"type": "array", "items": {"enum": ["room", "flat"]}, "maxItems": 2},
        "when": {
            "type": "object",
            "properties": {"day": {"type": "string", "format": "date"}},
            "required": ["day"],
        },
    },
}
_ARGUMENTS = {"place": "oslo", "count": 3, "kinds": ["room"], "when": {"day": "2026-11-21"}}
_HINTS = {
    "find": {"requires": ["count (needs place)"], "next": ["count"], "hint": "Look first."},
    "count": {},
}


def _tool(name: str, parameters: dict[str, Any] = _PARAMETERS, **options: Any) -> Tool:
    return Tool(name, "Find a place.", parameters, lambda arguments, _: arguments, effect="read", **options)


_FIND = _tool("find")


def _registry(options: dict[str, Any]) -> Any:
    """Return a set of tools, one of which has these options: contradictions in it, and with others."""
    batch = {"type": "object", "properties": {"places": {"type": "array", "items": {"type": "string"}}}}
    try:
        tools = (_tool("find", **options), _tool("count"), _tool("other"), _tool("find_all", batch))
        return Registry(tools)["find"].contract
    except InvalidTool as refused:
        return str(refused).partition(": ")[2]  # behind the line of this file


def _reader(name: str, read: Any, document: Any, odd: tuple[Any, ...] = ODD) -> Reader:
    found = variants(document, odd)
    return Reader(name, lambda variant: read(found[variant]), (), tuple(found))


READERS = (
    _reader(
        "contracts of reads", lambda options: contract.complete("find", "read", options), _OF_A_READ, _NUMBERS
    ),
    _reader(
        "contracts of writes",
        lambda options: contract.complete("pay", "write", options),
        _OF_A_WRITE,
        _NUMBERS,
    ),
    _reader(
        "reads with options of writes",
        lambda options: contract.complete("find", "read", options),
        _OF_A_WRITE,
    ),
    _reader(
        "writes with options of reads", lambda options: contract.complete("pay", "write", options), _OF_A_READ
    ),
    _reader(
        "sets of tools", _registry, {"batch": _OF_A_READ["batch"], "alternatives": _OF_A_READ["alternatives"]}
    ),
    _reader("parameters", lambda parameters: _tool("find", parameters).input_schema, _PARAMETERS),
    _reader(
        "arguments",
        lambda arguments: validate(_FIND, arguments),
        _ARGUMENTS,
        (*_NUMBERS, "o", "o" * 10, 9, 10, ["room"] * 3),
    ),
    _reader("hints", lambda hints: hint_file.read_hints(json.dumps(hints), {"find", "count"}), _HINTS),
)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_the_message_of_every_fault_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
