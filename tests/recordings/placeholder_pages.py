"""The targets of placeholders: values of every kind, with paths to existing and missing values."""

from typing import Any

from tool_dispatcher.batch.placeholders import VALUES_BYTES_MAX

SIZED = 500
"""The number of values whose bytes together equal the limit of a call."""
_QUOTES = 2
_SIZE = VALUES_BYTES_MAX // SIZED - _QUOTES
_OF_KEYS = {f"{count} keys": {f"k{n}": n for n in range(count)} for count in (19, 20, 21)}

PLACEHOLDER_PAGES: dict[str, Any] = {
    "every value": {
        "none": None,
        "yes": True,
        "number": 3,
        "half": 0.5,
        "text": "a lamp",
        "nothing": "",
        "no items": [],
        "no keys": {},
        "list": [1, [2, 3], {"deep": ["x", {"odd key": "y"}]}],
        "zero": 0,
        **_OF_KEYS,
        **{"k" * length: {"k" * length: 1} for length in (63, 64, 65)},
    },
    "sized values": {"less": "l" * (_SIZE - 1), "whole": "w" * _SIZE, "more": "m" * (_SIZE + 1)},
}
PRESENT = (
    *("", ".none", ".yes", ".number", ".half", ".text", ".nothing", '["no items"]', "['no keys']", ".zero"),
    *(".list", ".list[0]", ".list[1][1]", ".list[2].deep[0]", '.list[2].deep[1]["odd key"]'),
)
"""Paths to existing values."""
MISSING = (
    *(".none.x", ".yes.x", ".number.x", ".half[0]", ".text.x", ".text[0]", ".nothing[0]", '["no items"][0]'),
    *("['no keys'].x", "[0]", ".list.x", ".list[3]", ".list[1][2]", ".list[2].deep[1].odd", ".zero.x"),
    *(f'["{name}"].x' for name in _OF_KEYS),
    *(f".{'k' * length}.x" for length in (63, 64, 65)),
)
"""Paths to missing values; each passes through a value of another kind."""
NAMES_OF_LENGTHS = tuple("n" * (length - len("${calls[0].}")) for length in (199, 200, 201))
"""Missing keys that make a placeholder exactly as long as its limit, one shorter and one longer."""
