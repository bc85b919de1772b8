"""The numbers that a reader sees in place of citations of facts: `[1][2]` for `[F7, F3]`. Pure.

Numbers count from 1 in the order of first citation. A fact that does not exist keeps its id, with a question
mark: `[F99?]`. A number in brackets that the model wrote itself becomes `(1)`, as it names no source.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass

from antiphon_shared.memory.briefing import id_ranges
from antiphon_shared.text.citations import CITATION, cited_ids
from antiphon_shared.text.splice import Edit, spliced

from response_assembler.markdown import Block, Citation

SOURCES_MAX = 200
"""Bound on the facts that an answer cites; further citations are shown as `[…]`."""
_RUN_MIN = 4
_BARE_NUMBER = re.compile(r"(?<![\\!\]])\[(\d{1,3})\](?![(\[:])")


@dataclass(frozen=True)
class Numbered:
    """A text as it is shown, and the facts that its citations name."""

    text: str
    numbers: dict[str, int]
    """The number of each cited fact, in their order."""
    unknown: tuple[str, ...]
    """Cited ids of facts that do not exist."""


def number(
    text: str, citations: Iterable[Citation], fact_ids: Container[str], edits: Iterable[Edit] = ()
) -> Numbered:
    """Return the text with numbers for its citations and with `edits`, which must not overlap a citation."""
    numbers: dict[str, int] = {}
    unknown: dict[str, None] = {}
    numbered = list(edits)
    for citation in citations:
        existing = [id for id in citation.ids if id in fact_ids]
        for id in existing[: max(0, SOURCES_MAX - len(numbers))]:
            numbers.setdefault(id, len(numbers) + 1)
        missing = [id for id in citation.ids if id not in fact_ids]
        unknown.update(dict.fromkeys(missing))
        marker = _markers(sorted({numbers[id] for id in existing if id in numbers}))
        marker += "[…]" if any(id not in numbers for id in existing) else ""
        marker += "".join(f"[{part}?]" for part in id_ranges(missing))
        numbered.append((citation.start, citation.end, _separated(marker, text, citation)))
    return Numbered(spliced(text, sorted(numbered)), numbers, tuple(unknown))


def number_own(text: str, fact_ids: Container[str]) -> Numbered:
    """Return a text composed here with numbers; all that looks like a citation in it is one."""
    matches = CITATION.finditer(text)
    citations = [Citation(match.start(), match.end(), cited_ids(match[0])) for match in matches]
    return number(text, citations, fact_ids)


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
    text, start = "", 0
    for end in range(1, len(numbers) + 1):
        if end < len(numbers) and numbers[end] == numbers[end - 1] + 1:
            continue
        run = numbers[start:end]
        text += f"[{run[0]}]–[{run[-1]}]" if len(run) >= _RUN_MIN else "".join(f"[{n}]" for n in run)
        start = end
    return text


def _separated(marker: str, text: str, citation: Citation) -> str:
    """Return the numbers so that the text after them does not turn them into a link or a link definition."""
    follows = text[citation.end : citation.end + 1]
    if follows in ("(", "["):
        return f"{marker} " if follows == "(" else marker
    line_start = text.rfind("\n", max(0, citation.start - 4), citation.start) + 1
    if follows == ":" and not text[line_start : citation.start].strip() and citation.start - line_start < 4:
        return f"\\{marker}"
    return marker
