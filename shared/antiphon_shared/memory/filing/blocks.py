"""The blocks of a text: paragraphs, headings, lines that stay whole, code. Pure."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

TITLE_CHARACTERS_MAX = 100
_DIALOGUE_MAX = 500
_SPEAKER_MAX = 100
_HEADING_LINE = re.compile(r"\s{0,3}#{1,6}[ \t]+(?P<words>\S.*?)[\s#]*")
_ITEM = re.compile(r"(?:[-*+•‣◦]|\d{1,4}[.)])[ \t]+(?=\S)")
_SPEAKER = re.compile(
    r"(?:[-*+•][ \t]+)?(?:[\[(][^\])\n]{1,40}[\])][ \t]*)?[*_]{0,2}"
    r"(?:\w[\w.'’-]{0,39}|(?=[^:]{1,40}:)(?:[A-Z0-9][\w.'’-]*)(?: [A-Z0-9(][\w.'’:/)-]*){1,3})"
    r"[*_]{0,2}(?::[*_]{0,2}\s+|：\s*)\S"
)
_RULE = re.compile(r"[\s=_*#|:+~.-]*")
_SENTENCE_END = (".", "!", "?", ",", ";", "。", "！", "？", "…", "؟", "।")
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

Kind = Literal["heading", "paragraph", "whole", "code"]


class Block(NamedTuple):
    kind: Kind
    start: int
    end: int


def blocks_of(text: str) -> Iterator[Block]:
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
