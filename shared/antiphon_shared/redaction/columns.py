"""Values of secret keys in other positions: in columns, in lists, in pairs of name and value. Pure."""

import re
from collections.abc import Iterator

from antiphon_shared.redaction.harmless import is_harmless, looks_random
from antiphon_shared.redaction.span import IsSecret, Span

_NAME = r"\\{0,7}[\"']?[A-Za-z_][\w .()/-]{0,40}\\{0,7}[\"']?"
_NEWLINE = r"(?:\r?\n|(?:\\{1,7}r)?\\{1,7}n)"
_HEADER = re.compile(
    rf"(?:(?<![^\r\n])|(?<=\\n))[|]?[ ]?{_NAME}(?P<sign>[,;\t|]|\\t| \| )(?:{_NAME}(?P=sign)){{0,40}}{_NAME}[ ]?[|]?"
    rf"(?P<newline>{_NEWLINE})"
)
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_FIELD_EDGES = " \t\\\"'|"
_ROWS_MAX = 10_000
_RULE = re.compile(r"[-:| +\t]+")
_ITEMS = re.compile(
    r"(?<![\w-])(?P<key>[A-Za-z_][\w-]{0,80}):[ \t]*"
    rf"(?P<items>(?:{_NEWLINE}[ \t]*- [\"']?[^\s\"'\\:#]{{1,4096}}[\"']?[ \t]*)+)"
)
_ITEM = re.compile(r"- [\"']?(?P<value>[^\s\"'\\:#]{1,4096})")
_BELOW = re.compile(
    r"(?:(?<![^\r\n])|(?<=\\n))(?P<indent> {0,40})(?P<key>[A-Za-z_][\w-]{0,80}):[ \t]*"
    rf"(?P<lines>(?:{_NEWLINE}(?P=indent) {{1,8}}[\w.-]{{1,80}}: +[^\r\n\\]{{1,4096}}){{1,200}})"
)
_LINE_BELOW = re.compile(
    r"[\w.-]{1,80}: +[\"']?(?P<value>[^\s\"'\\]{4,4096})[\"']?(?=[ \t]*(?:[\r\n\\#]|\Z))"
)
_QUOTE = r"\\{0,7}[\"']"
_PAIRS = {
    # JSON and YAML: name: KEY, value: x
    "alue": re.compile(
        rf"(?:name|key|Name|Key){_QUOTE}?\s{{0,4}}[:=]\s{{0,4}}{_QUOTE}?(?P<key>[A-Za-z_][\w.-]{{1,80}}){_QUOTE}?"
        rf"(?:[,\s]|\\[nrt]){{1,20}}{_QUOTE}?(?:[a-z]{{1,20}}:)?[Vv]alue{_QUOTE}?\s{{0,4}}[:=]\s{{0,4}}(?:{_QUOTE})?"
        r"(?P<value>[^\s\"'\\,{}\[\]<>][^\"'\\\r\n,}]{3,4096})"
    ),
    # XML: <name>KEY</name><value>x</value>, with something around x or not
    ">": re.compile(
        r"<(?:name|key)>(?P<key>[A-Za-z_][\w.-]{1,80})</(?:name|key)>\s{0,20}<(?:value|string)>\s{0,20}(?:<\w{1,20}>)?"
        r"(?P<value>[^<>]{4,4096})</"
    ),
    # The same in an attribute: <property name="KEY">x</property>
    "</": re.compile(
        rf"\sname={_QUOTE}(?P<key>[A-Za-z_][\w.-]{{1,80}}){_QUOTE}(?:\s[^<>]{{0,80}})?>\s{{0,20}}(?P<value>[^<>\s][^<>]{{3,4096}})</"
    ),
    # The same in an element of that name: <Password><Value>x</Value>
    "alue>": re.compile(
        r"<(?P<key>[A-Za-z_][\w.-]{1,80})>\s{0,20}<[Vv]alue>\s{0,20}(?P<value>[^<>]{4,4096})</"
    ),
    # Arguments: define('KEY', 'x')
    "(": re.compile(
        rf"\([^()\r\n]{{0,20}}?{_QUOTE}(?P<key>[A-Za-z_][\w.-]{{1,80}}){_QUOTE}\s{{0,4}},\s{{0,4}}{_QUOTE}(?P<value>[^\"'\\\r\n]{{4,4096}}){_QUOTE}"
    ),
    # Forms in parts: name="KEY", an empty line, x
    "form-data": re.compile(
        rf"form-data; name={_QUOTE}(?P<key>[A-Za-z_][\w.-]{{1,80}}){_QUOTE}{_NEWLINE}{_NEWLINE}"
        r"(?P<value>[^\s\\]{1,4096})"
    ),
    # Files of settings: a line of KEY and x
    " ": re.compile(
        r"(?:(?<![^\r\n])|(?<=\\n))[ \t]{0,20}(?P<key>[A-Za-z_][\w-]{1,80})[ \t]{1,40}"
        r"(?P<value>[^\s\"'\\:=|,;]{6,4096})[ \t]*(?=[\r\n]|\\n|\Z)"
    ),
}
"""The forms, each by a mark that a text must contain for it."""
_LOOSE = ("(", " ")
"""Marks of forms that also occur in prose or in a program."""


def elsewhere(text: str, is_secret: IsSecret) -> Iterator[Span]:
    """Yield the values in all these forms."""
    if "\n" in text or "\\n" in text:
        yield from _in_columns(text, is_secret)
    for match in _ITEMS.finditer(text) if "- " in text else ():
        if is_secret(match["key"]):
            for item in _ITEM.finditer(text, *match.span("items")):
                if not is_harmless(item["value"]):
                    yield Span(*item.span("value"))
    for match in _BELOW.finditer(text) if ":" in text else ():
        if is_secret(match["key"]):
            for line in _LINE_BELOW.finditer(text, *match.span("lines")):
                if looks_random(line["value"]):
                    yield Span(*line.span("value"))
    for mark, pattern in _PAIRS.items():
        for match in pattern.finditer(text) if mark in text else ():
            if not is_secret(match["key"]):
                continue
            value = match["value"].rstrip()
            if looks_random(value) if mark in _LOOSE else not is_harmless(value):
                yield Span(match.start("value"), match.start("value") + len(value))


def _in_columns(text: str, is_secret: IsSecret) -> Iterator[Span]:
    """Yield the cells below a secret name in a table of commas, semicolons, tabs or bars."""
    at = 0
    while (header := _HEADER.search(text, at)) is not None:
        sign, newline, at = header["sign"], header["newline"], header.end()
        names = [
            name.strip(_FIELD_EDGES) for name in text[header.start() : header.start("newline")].split(sign)
        ]
        secret = [n for n, name in enumerate(names) if name and is_secret(name)]
        if not secret:
            continue
        for _ in range(_ROWS_MAX):
            end = text.find(newline, at)
            end = len(text) if end < 0 else end
            cells = _cells(text, at, end, sign)
            if len(cells) != len(names):
                break
            if not _RULE.fullmatch(text[at:end]):
                yield from (Span(*cells[n]) for n in secret if _is_value(text[slice(*cells[n])]))
            at = min(end + len(newline), len(text))
            if at == len(text):
                break


def _is_value(cell: str) -> bool:
    return bool(cell) and " " not in cell and len(cell) > 3 and not is_harmless(cell)


def _cells(text: str, start: int, end: int, sign: str) -> list[tuple[int, int]]:
    """Return the positions of a row's cells, without the signs around them; a separator in quotes does not count."""
    cells: list[tuple[int, int]] = []
    begin, is_quoted = start, False
    for at in range(start, end + 1):
        if at < end and text[at] == '"':
            is_quoted = not is_quoted
        elif at == end or (not is_quoted and text.startswith(sign, at)):
            cell = text[begin:at]
            bare = cell.strip(_FIELD_EDGES)
            left = begin + cell.find(bare) if bare else begin
            cells.append((left, left + len(bare)))
            begin = at + len(sign)
    return cells
