"""The fence around results of tools, which their text cannot close, open or imitate. Pure.

    <result call="toolu_1" tool="search" round="1" trust="untrusted">
    ## A title
    F1 A statement, of two lines
      or more.
    </result>

A text that a program or a reader could take for a fence loses its bracket to `&lt;`. That holds with any characters
other than letters between the bracket and the word and between its letters (spaces, slashes, line breaks, zero-width,
combining, soft-hyphen, bidi and other control characters). It holds in any case, full-width, circled or in tag
characters, backwards, with digits for letters, doubled, in the plural, or with letters of another script. Any of those
may look like one of ours, so a bracket before six of them is taken for a fence too; that costs a `&lt;` in a few
harmless texts. HTML entities stay: a briefing is never decoded, so `&lt;/result&gt;` is ordinary text, and we write
it ourselves.

A briefing's remarks about a fact are in parentheses after its id; so a parenthesis that begins a text becomes `&#40;`.
To compare a shown text with an original, use `unescaped` on both.
"""

import re
import unicodedata
from functools import lru_cache

from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.splice import spliced

CLOSING = "</result>"

_BRACKETS = "<≮＜﹤˂‹❮❬❰⟨〈《«\u2329⧼⦑≺⋖ᐸᚲ𝈶\U000e003c"
_BRACKET = re.compile(f"[{_BRACKETS}]")
_FILLERS = "\u115f\u1160\u3164\uffa0"
"""Characters that are letters in Unicode, but invisible."""
_ANY = "\ufffd"
"""A placeholder for a character that may look like any letter."""
_CHARACTERS_CACHED_MAX = 4_096

_BETWEEN = f"[^a-z0-9<{_ANY}]*+"
"""Any characters up to a bracket, so that a text with many brackets is read only once."""
_LETTERS = (
    f"(?:r++|{_ANY})",
    f"(?:[e3]++|{_ANY})",
    f"(?:[s5]++|{_ANY})",
    f"(?:[uv]++|{_ANY})",
    f"(?:[li1]++|{_ANY}|(?<=[|!]))",
    f"(?:[t7]++|{_ANY})",
)
"""The look-alikes of each letter of the word; `|` and `!` may also be between letters, hence the lookbehind."""
_FORWARDS = _BETWEEN.join(_LETTERS)
_BACKWARDS = _BETWEEN.join(reversed(_LETTERS))
_FENCE = re.compile(
    f"<(?={_BETWEEN}(?:[st{_ANY}]{_BETWEEN}){{0,3}}?(?:{_FORWARDS}|{_BACKWARDS})s?+(?![a-z0-9]))"
)
_SIGNS = str.maketrans("$+", "st")
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Tag characters, which repeat ASCII invisibly: some readers take them for letters, others skip them."""

_PARENTHESES = "(（⁽₍﹙❨❪⟮⦅⸨﴾﴿"
_PARENTHESIS = re.compile(f"[{_PARENTHESES}]")
_BEFORE_WORDS = re.compile(f'(?:[^\\w{{\\["]|[_{_FILLERS}])*+')
"""Characters after which a remark seems not to belong to the text; without those that begin a JSON value."""
_ATTRIBUTE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "＞": "&gt;"} | dict.fromkeys('"＂“”„‟″ˮ', "&quot;")
)
_PLAIN = re.compile(r"[A-Za-z0-9_.$\[\]:-]{0,200}")
_ATTRIBUTE_CHARACTERS_MAX = 200


def fence(text: str) -> str:
    """Return tool output that cannot imitate the fence around it, to be placed after the id of a fact.

    Every line after the first is indented by two spaces, so that it cannot begin like a line of ours; line
    separators of all kinds become line breaks. The rest is verbatim. Takes time linear in the text.
    """
    text = "\n  ".join(text.splitlines())
    if before := _BEFORE_WORDS.match(text):
        text = _PARENTHESIS.sub("&#40;", before[0]) + text[before.end() :]
    if not _BRACKET.search(text):
        return text
    drawings = {_fold_lookalikes(text), _fold_lookalikes(text.translate(_TAGS))}
    brackets = sorted({match.start() for drawing in drawings for match in _FENCE.finditer(drawing)})
    return spliced(text, ((at, at + 1, "&lt;") for at in brackets))


def unescaped(text: str) -> str:
    """Return the text with the brackets and parentheses that `fence` replaced, for comparisons."""
    return text.replace("&lt;", "<").replace("&#40;", "(")


def opening(call: str, tool: str, round: int, is_untrusted: bool) -> str:
    """Return the line that opens the fence around one call's text; `CLOSING` closes it."""
    trust = "untrusted" if is_untrusted else "tool"
    return f'<result call="{attribute(call)}" tool="{attribute(tool)}" round="{round}" trust="{trust}">'


def attribute(value: str) -> str:
    """Return a value that cannot leave its quotes, on one line, of about 200 characters."""
    if _PLAIN.fullmatch(value):
        return value
    return fence(one_line(value, _ATTRIBUTE_CHARACTERS_MAX).translate(_ATTRIBUTE))


def _fold_lookalikes(text: str) -> str:
    """Return the text, of the same length, in the characters that its own may be taken for."""
    folded = text.lower() if text.isascii() else "".join(map(_look_of, text))
    return folded.translate(_SIGNS)


@lru_cache(_CHARACTERS_CACHED_MAX)
def _look_of(character: str) -> str:
    """Return `<`, a lower-case ASCII letter or digit, `_ANY`, or a space, for one character.

    By its compatibility decomposition (Unicode Standard Annex 15).
    """
    if character in _BRACKETS:
        return "<"
    if character in _FILLERS or ord(character) in _TAGS:
        return " "
    parts = unicodedata.normalize("NFKD", character)
    base = next(filter(str.isalnum, parts), parts[0])
    if base.isascii():
        return base.lower()
    return _ANY if base.isalnum() or "LETTER" in unicodedata.name(character, "") else " "
