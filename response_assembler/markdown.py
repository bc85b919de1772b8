"""An answer's Markdown as blocks and sentences, with their positions in the text. Pure.

It covers the parts of CommonMark and of GitHub's tables that separate statements from other text: headings, code,
lists, quotations, tables. `sentencex` splits sentences. A citation after a sentence's full stop belongs to that
sentence. A citation in code counts only if it is all of the code.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from antiphon_shared.text.citations import CITATION, cited_ids
from antiphon_shared.text.splice import spliced
from sentencex import get_sentence_boundaries

Kind = Literal["prose", "item", "row", "quotation", "heading", "code"]

IDS_MAX = 100
"""Bound on the facts that one citation names; the rest is ignored."""
_PIECE_CHARACTERS = 2000
"""The length above which paragraphs are split first, as the sentence splitter is slow on unpaired quotes."""
_QUOTED_LINE = re.compile(r"(?:[ \t]{0,3}>[ \t]?)+")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(r"[ \t]*#{1,6}(?=\s|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True)
class Citation:
    """A citation such as `[F1, F2]` in a text, with the ids that it names."""

    start: int
    end: int
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Sentence:
    """One sentence, or one row of a table."""

    start: int
    end: int
    text: str
    """The text with its citations blanked out."""
    cited: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A paragraph, a list item, a table row ..., made of its lines without their markers."""

    kind: Kind
    text: str
    """From the first line to the end of the last; the markers of the lines between are blanked out."""
    start: int

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """Return the citations outside of code, with their positions in the whole text."""
        if self.kind == "code":
            return ()
        citations = [
            _citation(self.start + match.start(), self.start + match.end(), match[0])
            for match in CITATION.finditer(self.without_code)
        ]
        for start, end in self._code_spans:
            inside = self.text[start:end].strip("`").strip()
            if match := CITATION.fullmatch(inside):
                citations.append(_citation(self.start + start, self.start + end, match[0]))
        return tuple(sorted(citations, key=lambda citation: citation.start))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Return the sentences in their order, without headings and code."""
        if self.kind in ("heading", "code"):
            return ()
        visible, split = _blanked(self.text, self.citations, self.start), self.without_code
        split = _blanked(split, self.citations, self.start)
        spans = [(0, len(visible.rstrip().rstrip("|")))] if self.kind == "row" else _sentence_spans(split)
        stripped = [_stripped(visible, *span) for span in spans]
        spans = [span for span in stripped if span[0] < span[1]]
        cited: list[list[str]] = [[] for _ in spans]
        starts = [self.start + start for start, _ in spans[1:]]
        for citation in self.citations if spans else ():
            cited[bisect_right(starts, citation.start)] += citation.ids
        return tuple(
            Sentence(self.start + start, self.start + end, visible[start:end], tuple(dict.fromkeys(ids)))
            for (start, end), ids in zip(spans, cited, strict=True)
        )

    @cached_property
    def without_code(self) -> str:
        """Return the text with each character of inline code replaced by `x`."""
        return spliced(self.text, ((start, end, "x" * (end - start)) for start, end in self._code_spans))

    @cached_property
    def _code_spans(self) -> tuple[tuple[int, int], ...]:
        """Return the spans of inline code: from a run of backticks to the next run of the same length."""
        runs = list(_BACKTICKS.finditer(self.text))
        next_alike: dict[int, int] = {}
        partner: list[int | None] = [None] * len(runs)
        for index in reversed(range(len(runs))):
            length = len(runs[index][0])
            partner[index] = next_alike.get(length)
            next_alike[length] = index
        spans, index = [], 0
        while index < len(runs):
            close = partner[index]
            if close is not None:
                spans.append((runs[index].start(), runs[close].end()))
            index = index + 1 if close is None else close + 1
        return tuple(spans)


@dataclass(frozen=True)
class Reading:
    """A text's blocks, and the code fence that is open at its end."""

    blocks: tuple[Block, ...]
    open_fence: str = ""

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(citation for block in self.blocks for citation in block.citations)


def parse_markdown(text: str) -> Reading:
    """Return the blocks of a Markdown text."""
    reader = _Reader()
    position = 0
    for line in text.splitlines(keepends=True):
        reader.take(line, position)
        position += len(line)
    reader.end_block()
    return Reading(tuple(reader.blocks), reader.fence)


class _Reader:
    """A line-by-line reader, with the block that the next line may continue."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.fence = ""
        self._kind: Kind = "prose"
        self._start = 0
        self._parts: list[str] = []
        self._is_quotation = self._is_table = False

    def take(self, line: str, position: int) -> None:
        marker = _QUOTED_LINE.match(line)
        begin = marker.end() if marker else 0
        content = line[begin:]
        bare = content.strip()
        if self.fence:
            is_close = bare.startswith(self.fence) and not bare.strip(self.fence[0])
            self._add(line, 0)
            if is_close:
                self.fence = ""
                self.end_block()
        elif (opening := _FENCE.match(content)) and (opening[1][0] == "~" or "`" not in bare.lstrip("`")):
            self._begin("code", line, position, 0)
            self.fence = opening[1]
        elif not bare:
            self.end_block()
            self._is_table = False
        elif _HEADING.match(content):
            self._begin("heading", line, position, begin)
            self.end_block()
        elif self._is_rule(bare):
            self.end_block()
        elif bare.startswith("|") or (self._is_table and "|" in bare):
            self._begin("row", line, position, begin)
        elif item := _ITEM.match(content):
            self._begin("item", line, position, begin + item.end())
        elif self._parts and self._kind != "row" and self._is_quotation == bool(marker):
            self._add(line, begin)
        else:
            self._begin("quotation" if marker else "prose", line, position, begin)
        self._is_quotation = bool(marker)

    def end_block(self) -> None:
        if self._parts:
            self.blocks.append(Block(self._kind, "".join(self._parts), self._start))
        self._parts = []

    def _is_rule(self, bare: str) -> bool:
        """Return whether a line is a rule or an underline, and update the block it belongs to."""
        signs = set(bare.replace(" ", ""))
        if signs <= set("-|:") and {"-", "|"} <= signs:
            if self._parts:
                self._kind = "heading"
            self._is_table = True
            return True
        if signs in ({"="}, {"-"}) and self._parts and self._kind == "prose":
            self._kind = "heading"
            return True
        return signs in ({"-"}, {"*"}, {"_"}) and len(bare) >= 3

    def _begin(self, kind: Kind, line: str, position: int, begin: int) -> None:
        self.end_block()
        self._kind, self._start = kind, position + begin
        self._parts = [line[begin:]]

    def _add(self, line: str, begin: int) -> None:
        self._parts.append(" " * begin + line[begin:])


def _citation(start: int, end: int, text: str) -> Citation:
    return Citation(start, end, _ids_in(text))


@lru_cache(1024)
def _ids_in(citation: str) -> tuple[str, ...]:
    return cited_ids(citation)[:IDS_MAX]


def _blanked(text: str, citations: tuple[Citation, ...], start: int) -> str:
    spans = ((one.start - start, one.end - start) for one in citations)
    return spliced(text, ((first, last, " " * (last - first)) for first, last in spans))


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    return [
        (start + boundary["start_index"], start + boundary["end_index"])
        for start, piece in _pieces(text)
        for boundary in get_sentence_boundaries("en", piece)
    ]


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield the text in pieces of bounded length, which end at a space if possible."""
    start = 0
    while start < len(text):
        end = start + _PIECE_CHARACTERS
        if end < len(text):
            space = text.rfind(" ", start + _PIECE_CHARACTERS // 2, end)
            end = space + 1 if space != -1 else end
        yield start, text[start:end]
        start = end


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return begin, max(begin, start + len(piece.rstrip()))
