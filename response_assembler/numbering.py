"""From citations of facts to the numbers that a reader sees: `[F7, F3]` becomes `[1][2]`. Pure.

Numbers count from 1 in the order of first citation. A fact that does not exist keeps its id, with a question
mark: `[F99?]`. A number in brackets that the model wrote itself becomes `(1)`, since it names no source.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass

from antiphon_shared.memory.briefing import id_ranges
from antiphon_shared.text.citations import CITATION, cited_ids

from response_assembler.markdown import Block, Citation

SOURCES_MAX = 200
"""The number of facts that an answer cites at most; beyond, a citation is shown as `[…]`."""
_RUN_MIN = 4
_BARE_NUMBER = re.compile(r"(?<![\\!\]])\[(\d{1,3})\](?![(\[:])")

Edit = tuple[int, int, str]
"""The start and end of a piece of text, and its replacement."""


@dataclass(frozen=True)
class Numbered:
    """A text as it is shown, and the facts that its citations name."""

    text: str
    numbers: dict[str, int]
    """The number of each cited fact, in their order."""
    unknown: tuple[str, ...]
    """Cited ids of facts that do not exist."""


def number(
    text: str, citations: Iterable[Citation], known: Container[str], edits: Iterable[Edit] = ()
) -> Numbered:
    """Return the text with numbers for its citations, and with `edits` made, which overlap no citation."""
    numbers: dict[str, int] = {}
    unknown: dict[str, None] = {}
    numbered = list(edits)
    for citation in citations:
        exist = [id for id in citation.ids if id in known]
        for id in exist[: max(0, SOURCES_MAX - len(numbers))]:
            numbers.setdefault(id, len(numbers) + 1)
        missing = [id for id in citation.ids if id not in known]
        unknown.update(dict.fromkeys(missing))
        shown = _markers(sorted({numbers[id] for id in exist if id in numbers}))
        shown += "[…]" if any(id not in numbers for id in exist) else ""
        shown += "".join(f"[{part}?]" for part in id_ranges(missing))
        numbered.append((citation.start, citation.end, _separated(shown, text, citation)))
    return Numbered(_edited(text, numbered), numbers, tuple(unknown))


def number_own(text: str, known: Container[str]) -> Numbered:
    """Return the same for a text composed here, in which only citations look like citations."""
    found = CITATION.finditer(text)
    citations = [Citation(match.start(), match.end(), cited_ids(match[0])) for match in found]
    return number(text, citations, known)


def bare_numbers(blocks: Iterable[Block]) -> list[Edit]:
    """Return edits that replace each `[1]` outside of code with `(1)`."""
    return [
        (block.start + match.start(), block.start + match.end(), f"({match[1]})")
        for block in blocks
        if block.kind != "code"
        for match in _BARE_NUMBER.finditer(block.without_code)
    ]


def _markers(numbers: list[int]) -> str:
    """Return numbers as `[1][2]`; four and more in a row as `[1]–[4]`."""
    shown, start = "", 0
    for end in range(1, len(numbers) + 1):
        if end < len(numbers) and numbers[end] == numbers[end - 1] + 1:
            continue
        run = numbers[start:end]
        shown += f"[{run[0]}]–[{run[-1]}]" if len(run) >= _RUN_MIN else "".join(f"[{n}]" for n in run)
        start = end
    return shown


def _separated(shown: str, text: str, citation: Citation) -> str:
    """Return the numbers so that the text after them does not turn them into a link or a link definition."""
    follows = text[citation.end : citation.end + 1]
    if follows in ("(", "["):
        return f"{shown} " if follows == "(" else shown
    line_start = text.rfind("\n", max(0, citation.start - 4), citation.start) + 1
    if follows == ":" and not text[line_start : citation.start].strip() and citation.start - line_start < 4:
        return f"\\{shown}"
    return shown


def _edited(text: str, edits: list[Edit]) -> str:
    parts, at = [], 0
    for start, end, shown in sorted(edits):
        parts += [text[at:start], shown]
        at = end
    return "".join([*parts, text[at:]])
