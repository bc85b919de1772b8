"""Two differing values as a bounded number of lines that are safe for a terminal. Pure.

- "Hurry."
+ ""
"""

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice

from antiphon.replay.differences import ABSENT

LINES_MAX = 40
LENGTH_MAX = 200
_DIFFED_LINES_MAX = 300
"""The lines of each side that are compared, from the first difference on; the time grows faster than their number."""
_CHARACTERS_BEFORE = 40
"""The characters shown before the first difference of two long lines."""
_CONTEXT = 2


def change(expected: object, got: object, lines_max: int = LINES_MAX) -> list[str]:
    """Return the expected lines with `- `, the other lines with `+ `, and two lines of context around a difference."""
    then, now = _lines(expected), _lines(got)
    if len(then) == len(now) == 1:
        return _pair(then[0], now[0])
    diff = list(islice(_unified(then, now), lines_max + 1))
    if len(diff) > lines_max:
        diff[lines_max:] = [f"… of {len(then)} lines expected, {len(now)} got"]
    return diff


def printable(text: str) -> str:
    """Return the text with escapes for characters that move a cursor, are invisible or break a line."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else _escaped(sign) for sign in text)


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def _lines(value: object) -> list[str]:
    if value == ABSENT:
        return [ABSENT]
    if isinstance(value, str) and "\n" in value:
        return value.split("\n")
    if isinstance(value, dict | list | tuple) and value:
        return json.dumps(value, ensure_ascii=False, indent=2, default=str).split("\n")
    return [json.dumps(value, ensure_ascii=False, default=str)]


def _unified(then: list[str], now: list[str]) -> Iterator[str]:
    """Yield the lines as `diff -u` does, from shortly before the first difference on."""
    begin = max(0, _common_length(then, now) - _CONTEXT)
    end = begin + _DIFFED_LINES_MAX
    then, now = then[begin:end], now[begin:end]
    for group in SequenceMatcher(None, then, now).get_grouped_opcodes(_CONTEXT):
        yield f"@@ line {begin + group[0][1] + 1} @@"
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                yield from (f"  {_cut(line)}" for line in then[i:i_end])
            elif i_end - i == j_end - j:
                pairs = [_pair(a, b) for a, b in zip(then[i:i_end], now[j:j_end], strict=True)]
                yield from (line for line, _ in pairs)
                yield from (line for _, line in pairs)
            else:
                yield from (f"- {_cut(line)}" for line in then[i:i_end])
                yield from (f"+ {_cut(line)}" for line in now[j:j_end])


def _pair(then: str, now: str) -> list[str]:
    """Return both lines, or, if they are long, the parts where they differ."""
    skipped = 0
    if max(len(then), len(now)) > LENGTH_MAX:
        skipped = max(0, _common_length(then, now) - _CHARACTERS_BEFORE)
    return [f"{sign} {_cut(line, skipped)}" for sign, line in (("-", then), ("+", now))]


def _common_length(then: Sequence[str], now: Sequence[str]) -> int:
    """Return the length of the common beginning."""
    pairs = zip(then, now, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(then), len(now)))


def _cut(line: str, skipped: int = 0) -> str:
    part = line[skipped : skipped + LENGTH_MAX]
    left = len(line) - skipped - len(part)
    return f"{'…' if skipped else ''}{printable(part)}{f'… ({left} more characters)' if left > 0 else ''}"
