"""Texts with the length of each constant of the pure modules, one character less, and one more."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.recordings.pure_modules import pure_modules

_READ_BY = ("shared/antiphon_shared/memory", "shared/antiphon_shared/text/subquestions")
_LONGEST = 2_000
_TITLE_LONGEST = 320
_WORDS = "The mole of the harbour at Holm is made of grey stone and stands there since the days of old " * 30


def _lengths(path: Path) -> Iterator[int]:
    """Yield the lengths at and next to the constants in a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and type(node.value) is int and 8 <= node.value <= _LONGEST:
            yield from (node.value - 1, node.value, node.value + 1)


_BY_MODULE = {name: {*_lengths(path)} for name, path in pure_modules().items()}
LENGTHS = tuple(
    sorted(set().union(*(found for name, found in _BY_MODULE.items() if name.startswith(_READ_BY))))
)
ALL_LENGTHS = tuple(sorted(set().union(*_BY_MODULE.values())))
SHORT_LENGTHS = tuple(length for length in LENGTHS if length <= _TITLE_LONGEST)


def text_of(length: int, begin: str = "", end: str = ".") -> str:
    """Return a text of exactly `length` characters, with that number after `begin`."""
    begin = f"{begin}{length} "
    inner = f"{begin}{_WORDS}"[: length - len(end)]
    return inner[:-1] + "x" + end if inner.endswith(" ") else inner + end


LENGTH_PAGES: dict[str, Any] = {
    "long texts": [{"n": length, "text": text_of(length)} for length in LENGTHS],
    "long values": [{"n": length, "name": f"a{length}", "about": text_of(length, end="")} for length in LENGTHS],
    "long words": [{"n": length, "text": "w" * length} for length in SHORT_LENGTHS],
    "long titles": [
        {"title": text_of(length, end=""), "text": f"It has {length} signs in all."} for length in SHORT_LENGTHS
    ],
    "long first lines": [
        {"text": f"{text_of(length, 'Lamps ', '')}\n\nIt is told of in the annals."} for length in SHORT_LENGTHS
    ],
    "long headings": "\n\n".join(f"# {text_of(length, end='')}\n\nIt is lit." for length in SHORT_LENGTHS),
    "long lines of dialogue": "\n".join(text_of(length, f"Ada{'a' * (length // 4)}: ") for length in SHORT_LENGTHS),
    "long names of speakers": "\n".join(f"{'A' * length}: so it is" for length in range(36, 44)),
    "long records": [
        {"id": f"r-{length}1", "tons": 1, "about": text_of(length, end="")} for length in range(78, 84)
    ],
    "long claims": "# Mole\n\n" + "\n\n".join(
        f"Mole {'a' * length} has 7 lamps of glass and wood in all there." for length in range(340, 362)
    ),
    "longer claims": "# Mole\n\n" + "\n\n".join(
        f"Mole {'a' * length} has 8 lamps of glass and wood in all there." for length in range(340, 362)
    ),
    "steps of a list": "# Mole\n\n" + "\n\n".join(f"The mole has {n} lamps of glass." for n in range(30, 41)),
    "a step more": "# Mole\n\nThe mole has 50 lamps of glass.",
}  # fmt: skip  # a table
