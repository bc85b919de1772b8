"""Sentences from templates: the files of data/, and how a template becomes text. Pure but for reading the files."""

import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

DATA = Path(__file__).parent / "data"
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_AN = re.compile(r"\b([Aa]) (?=[aeiou](?!ni|se|r[aeio]))")
_SLOT = re.compile(r"\{(\w+)\}")

Templates = dict[str, dict[str, list[str]]]
"""Kind of article -> relation (`lead`, `-` for others) -> templates."""


@cache
def words() -> dict[str, list[str]]:
    """Return the word lists by name."""
    lists = {}
    for name, line in _lines("words.txt"):
        lists[name] = [word.strip() for word in (line.split(",") if "," in line else line.split())]
    return lists


@cache
def templates() -> Templates:
    """Return the articles' sentences."""
    found: Templates = defaultdict(lambda: defaultdict(list))
    kind = ""
    for name, line in _lines("prose.txt"):
        if name.startswith("["):
            kind = name.strip("[]")
        else:
            found[kind][name].append(line)
    return found


def fill(template: str, slot: Callable[[str], str], random: Random) -> str:
    """Return the template with one of each choice taken, and each slot filled."""
    chosen = _CHOICE.sub(lambda match: random.choice(match[1].split("|")), template)
    text = _SLOT.sub(lambda match: slot(match[1]), chosen)
    return _AN.sub(r"\1n ", re.sub(r"  +", " ", text)).strip()


def _lines(name: str) -> list[tuple[str, str]]:
    """Return the text before the first `|`, and the rest, of each line with text."""
    text = (DATA / name).read_text(encoding="utf-8")
    paragraphs = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    return [(head.strip(), rest.strip()) for head, _, rest in (line.partition("|") for line in paragraphs)]
