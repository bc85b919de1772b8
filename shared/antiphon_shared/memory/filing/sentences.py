"""Text as statements: sentences, lines of dialogue, list items, table rows, blocks of code. Pure.

A statement is a slice of the text, without the space around it; it is never rewritten. Sentences are found by
`sentencex` within one block at a time: a paragraph, a list item. Some slices stay whole, as they depend on
their neighbours: a line of dialogue, a table row, neighbouring lines of code, and a very short sentence with
the next one.
"""

from collections.abc import Iterator
from typing import NamedTuple

from antiphon_shared.memory.filing.blocks import TITLE_CHARACTERS_MAX, Block, blocks_of
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.sentences import UNSPACED, sentences

_SENTENCE_MAX = 600
_CODE_MAX = 400
_SHORT = 25
_SHORT_IDEOGRAPHS = 8
_SPLIT_AT_ONCE = 2_000
_SPLIT_AT_ONCE_WIDE = 500
"""Bounds on a text for `sentencex`, whose time is quadratic on some texts."""
_FULL_STOP = (".", "!", "?", "。", "！", "？", "…", "؟", "।")
COARSE = 16
"""The grain from which on a text is split by size, not by structure."""
_HELD_MAX = 1_000

Span = tuple[int, int]
"""Start and end of a slice of the text."""


class Section(NamedTuple):
    """The statements below one heading."""

    heading: str
    spans: list[Span]


def sections(text: str, grain: int = 1) -> Iterator[Section]:
    """Yield the statements of a text in order, `grain` neighbours in one, by heading.

    A heading is `first heading: heading` where both exist; one with nothing below it is a statement. From
    `COARSE` on, a text is split by size alone. A section of very many statements comes in several.
    """
    if grain >= COARSE:
        if spans := list(slices_at_words(text, 0, len(text), _SHORT * grain)):
            yield Section("", spans)
        return
    held = Section("", [])
    for heading, spans in _by_heading(text):
        if held.spans and (heading != held.heading or len(held.spans) > _HELD_MAX * grain):
            yield _coarser(held, grain)
            held = Section(heading, [])
        if held.spans:
            held.spans.extend(spans)
        else:
            held = Section(heading, spans)
    if held.spans:
        yield _coarser(held, grain)


def slices_at_words(text: str, start: int, end: int, longest: int = _SENTENCE_MAX) -> Iterator[Span]:
    """Yield slices of `text[start:end]` of at most `longest` characters that end at a word, stripped."""
    while end - start > longest:
        first, last = start + longest // 2, start + longest
        line = text.rfind("\n", first, last)
        space = line if line > 0 else text.rfind(" ", first, last)
        edge = space if space > 0 else last
        yield from _stripped(text, start, edge)
        start = edge
    yield from _stripped(text, start, end)


def sentences_in(statement: str) -> list[str]:
    """Return the sentences of a statement: several when a very short one is joined with its neighbour."""
    if ". " not in statement and "! " not in statement and "? " not in statement:
        return [statement]
    if len(statement) > _SENTENCE_MAX:
        return [statement]
    return [words for piece in sentences(statement) if (words := piece.strip())]


def _by_heading(text: str) -> Iterator[tuple[str, list[Span]]]:
    top, heading = "", ""
    bare: Span | None = None
    for block in blocks_of(text):
        if block.kind != "heading":
            bare = None
            yield heading, _split(text, block)
            continue
        if bare is not None and heading != top:
            yield top, [bare]
        bare = _words_of_heading(text, block)
        words = one_line(text[slice(*bare)], TITLE_CHARACTERS_MAX)
        heading = f"{top}: {words}" if top else words
        top = top or words
        if words.endswith(_FULL_STOP):  # it is a statement itself
            yield heading, [bare]
            bare = None
    if bare is not None:
        yield (top if heading != top else ""), [bare]


def _coarser(section: Section, grain: int) -> Section:
    spans = section.spans
    if grain == 1:
        return section
    groups = [spans[at : at + grain] for at in range(0, len(spans), grain)]
    return Section(section.heading, [(group[0][0], group[-1][1]) for group in groups])


def _split(text: str, block: Block) -> list[Span]:
    """Return the block's statements."""
    if block.kind == "code":
        return list(_lumps(text, block))
    if block.end - block.start < _SHORT and _is_short(text[block.start : block.end]):
        return list(_stripped(text, block.start, block.end))
    is_paragraph = block.kind == "paragraph"
    spans = _sentences(text, block) if is_paragraph else [(block.start, block.end)]
    if is_paragraph and (
        block.end - block.start <= _SENTENCE_MAX or all(end - start <= _SENTENCE_MAX for start, end in spans)
    ):
        return spans
    return [piece for start, end in spans for piece in slices_at_words(text, start, end)]


def _sentences(text: str, block: Block) -> list[tuple[int, int]]:
    """Return the block's sentences; a very short one is joined with the one before, or after."""
    spans: list[tuple[int, int]] = []
    was_short = False
    for start, end in _stretches(text, block.start, block.end):
        for piece in sentences(text[start:end]):
            words = piece.strip()
            first = start + piece.index(words[0]) if words else start
            start += len(piece)
            if not words:
                continue
            last = first + len(words)
            is_short = last - first < _SHORT and _is_short(words)
            if spans and (is_short or was_short):
                first = spans[-1][0]
                spans[-1] = (first, last)
                was_short = last - first < _SHORT
            else:
                spans.append((first, last))
                was_short = is_short
    return spans


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    longest = (
        _SPLIT_AT_ONCE_WIDE if UNSPACED.search(text, start, min(end, start + _SHORT)) else _SPLIT_AT_ONCE
    )
    while end - start > longest:
        first, last = start + longest // 2, start + longest
        edges = (text.rfind(mark, first, last) + len(mark) for mark in (". ", "。", " "))
        edge = next((at for at in edges if at > first), last)
        yield start, edge
        start = edge
    yield start, end


def _is_short(words: str) -> bool:
    if len(words) >= _SHORT:
        return False
    return len(words) < _SHORT_IDEOGRAPHS or UNSPACED.search(words) is None


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    words = piece.strip()
    if words:
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(words)


def _lumps(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """Yield code by whole lines; the fences stay with the first and the last."""
    first = at = block.start
    for line in text[block.start : block.end].splitlines(keepends=True):
        is_closing = line.strip() == "```"
        if at > first and at + len(line) - first > _CODE_MAX and not is_closing:
            yield from slices_at_words(text, first, at)
            first = at
        at += len(line)
    yield from slices_at_words(text, first, at)


def _words_of_heading(text: str, block: Block) -> tuple[int, int]:
    """Return the position of a heading's words, without its marks."""
    line = text[block.start : block.end]
    words = line.strip().strip("#*[]_ ").rstrip(":") or line.strip()
    start = block.start + line.index(words)
    return start, start + len(words)
