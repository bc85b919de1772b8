"""Text as statements: sentences, lines of dialogue, list items, table rows, blocks of code. Pure.

A statement is a slice of the text, without the space around it; it is never rewritten. Sentences are found by
`sentencex` within one block at a time: a paragraph, a list item. Some slices stay whole, as they depend on
their neighbours: a line of dialogue, a table row, neighbouring lines of code, and a very short sentence with
the next one.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.sentences import sentences

TITLE_CHARACTERS_MAX = 100
_SENTENCE_MAX = 600
_CODE_MAX = 400
_DIALOGUE_MAX = 500
_SPEAKER_MAX = 100
_SHORT = 25
_SHORT_IDEOGRAPHS = 8
_SPLIT_AT_ONCE = 2_000
_SPLIT_AT_ONCE_WIDE = 500
"""Bounds on a text for `sentencex`, whose time is quadratic on some texts."""
_HEADING_LINE = re.compile(r"\s{0,3}#{1,6}[ \t]+(?P<words>\S.*?)[\s#]*")
_ITEM = re.compile(r"(?:[-*+•‣◦]|\d{1,4}[.)])[ \t]+(?=\S)")
_SPEAKER = re.compile(
    r"(?:[-*+•][ \t]+)?(?:[\[(][^\])\n]{1,40}[\])][ \t]*)?[*_]{0,2}"
    r"(?:\w[\w.'’-]{0,39}|(?=[^:]{1,40}:)(?:[A-Z0-9][\w.'’-]*)(?: [A-Z0-9(][\w.'’:/)-]*){1,3})"
    r"[*_]{0,2}(?::[*_]{0,2}\s+|：\s*)\S"
)
_RULE = re.compile(r"[\s=_*#|:+~.-]*")
_WIDE = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_SENTENCE_END = (".", "!", "?", ",", ";", "。", "！", "？", "…", "؟", "।")
_FULL_STOP = (".", "!", "?", "。", "！", "？", "…", "؟", "।")
_TITLE_WORDS_MAX = 10
_WRAPPED_TITLE_MAX = 80
_GOES_ON = frozenset((
    "a", "an", "the", "and", "or", "but", "nor", "of", "for", "to", "in", "on", "at", "by", "with", "without", "from",
    "into", "onto", "over", "under", "as", "if", "than", "that", "which", "who", "whom", "whose", "when", "where",
    "while", "because", "until", "unless", "except", "between", "among", "about", "after", "before", "during",
    "through", "per", "via", "against", "toward", "towards", "upon", "within", "like", "its", "his", "her", "their",
    "our", "your", "my", "this", "these", "those",
))  # fmt: skip  # a text, not a column
"""Words after which a line may break, but in which no title ends."""
_SAYS = frozenset((
    "is", "are", "was", "were", "be", "been", "has", "have", "had", "does", "do", "did", "can", "cannot", "could",
    "may", "might", "must", "shall", "should", "will", "would", "not", "never",
))  # fmt: skip  # a text, not a column
"""Words that make a line part of a sentence."""

COARSE = 16
"""The grain from which on a text is split by size, not by structure."""
_HELD_MAX = 1_000

Kind = Literal["heading", "paragraph", "whole", "code"]


class Block(NamedTuple):
    kind: Kind
    start: int
    end: int


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
    for block in _blocks(text):
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
    longest = _SPLIT_AT_ONCE_WIDE if _WIDE.search(text, start, min(end, start + _SHORT)) else _SPLIT_AT_ONCE
    while end - start > longest:
        first, last = start + longest // 2, start + longest
        found = (text.rfind(mark, first, last) + len(mark) for mark in (". ", "。", " "))
        edge = next((at for at in found if at > first), last)
        yield start, edge
        start = edge
    yield start, end


def _is_short(words: str) -> bool:
    if len(words) >= _SHORT:
        return False
    return len(words) < _SHORT_IDEOGRAPHS or _WIDE.search(words) is None


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


def _blocks(text: str) -> Iterator[Block]:
    """Yield the text's blocks, without rules and other lines without a word."""
    lines = text.splitlines(keepends=True)
    title = _title_line(lines)
    begun, kind, at, in_code = -1, "", 0, False
    for number, line in enumerate(lines):
        end = at + len(line)
        if in_code:
            in_code = not line.lstrip().startswith("```")
            if not in_code:
                yield Block("code", begun, end)
                begun = -1
            at = end
            continue
        kind = "heading" if number == title else _kind_of(line)
        if kind != "text" and begun >= 0:
            yield Block("paragraph", begun, at)
            begun = -1
        if kind == "heading" or kind == "whole":
            yield Block("heading" if kind == "heading" else "whole", at, end)
        elif kind == "fence":
            begun, in_code = at, True
        elif kind in ("text", "item") and begun < 0:
            begun = at
        at = end
    if begun >= 0:
        yield Block("code" if in_code else "paragraph", begun, at)


def _kind_of(line: str) -> str:
    words = line.strip()
    if not words:
        return "nothing"
    if not words[0].isalpha() and (kind := _kind_of_marked(line, words)):
        return kind
    is_dialogue = ":" in words[:_SPEAKER_MAX] or "：" in words[:_SPEAKER_MAX]
    if is_dialogue and len(words) <= _DIALOGUE_MAX and _SPEAKER.match(words):
        return "whole"
    return "item" if not words[0].isalpha() and _ITEM.match(words) else "text"


def _kind_of_marked(line: str, words: str) -> str:
    """Return the kind of a line that does not begin with a letter, if that determines it."""
    if _RULE.fullmatch(words):
        return "nothing"
    if words.startswith("```"):
        return "fence"
    if words[0] == "#" and len(line) <= TITLE_CHARACTERS_MAX and _HEADING_LINE.fullmatch(line):
        return "heading"
    return "whole" if words[0] == "|" and words[-1] == "|" else ""


def _title_line(lines: list[str]) -> int:
    """Return the number of the first line with words when it is a title above the rest, else -1."""
    if len(lines) == 1:
        return -1
    first = next((n for n, line in enumerate(lines[:20]) if line.strip()), -1)
    rest = [line for line in lines[first + 1 : first + 20] if line.strip()]
    if first < 0 or not rest or _kind_of(lines[first]) != "text":
        return -1
    title, below = lines[first].strip(), rest[0].strip()
    if len(title) > TITLE_CHARACTERS_MAX or title.endswith(_SENTENCE_END):
        return -1
    if not lines[first + 1].strip():
        return first
    words = title.lower().split()
    if len(title) > _WRAPPED_TITLE_MAX or title.split()[-1] in _GOES_ON or not _SAYS.isdisjoint(words):
        return -1
    stands_above = (
        len(title.split()) <= _TITLE_WORDS_MAX and not below[0].islower() and len(below) > len(title)
    )
    return first if stands_above or _RULE.fullmatch(below) else -1


def _words_of_heading(text: str, block: Block) -> tuple[int, int]:
    """Return the position of a heading's words, without its marks."""
    line = text[block.start : block.end]
    words = line.strip().strip("#*[]_ ").rstrip(":") or line.strip()
    start = block.start + line.index(words)
    return start, start + len(words)
