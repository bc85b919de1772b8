"""Tables in texts: Markdown, HTML, comma- and tab-separated values, lines of JSON. Pure.

A row becomes a record with the names of its columns; its values are the verbatim cells, without empty ones.
Rows without a header, or of many lengths, are not a table, and stay text.
"""

import csv
import re
from collections.abc import Iterator
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any, NamedTuple

from pydantic_core import from_json

from antiphon_shared.memory.filing.tables import column_names

_CHARACTERS_MAX = 2_000_000
_ROWS_MIN = 2
_RAGGED_SHARE = 5
"""The share of rows, one in this many, that may have another length; these stay text."""
_MARKDOWN_RULE = re.compile(
    r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$", re.MULTILINE
)
_UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
_HTML_TABLE = re.compile(r"<table\b", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,500}>")
_THREE_LINES = re.compile(r"\S[^\n]*\n[^\n]*\S[^\n]*\n[^\n]*\S")
_NUMBER = re.compile(r"[-+$€£]?\d[\d.,]*\s?(?:%|[^\W\d_]{1,3})?")
_BLOCK = re.compile(r"\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
"""Lines without an empty one between them."""
_HEADER_CELL_MAX = 60
_ROW_CHARACTERS_MAX = 1_500


class TextRow(NamedTuple):
    """A row: `text[start:end]` and its record."""

    start: int
    end: int
    record: dict[str, Any]


class TextTable(NamedTuple):
    """A table: `text[start:end]` and its rows; the rest of it, except the header, is text."""

    start: int
    end: int
    rows: tuple[TextRow, ...]

    def other_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans between and after the rows that contain words."""
        ends = [row.end for row in self.rows]
        starts = [*(row.start for row in self.rows[1:]), self.end]
        for start, end in zip(ends, starts, strict=True):
            if _TAG.sub("", text[start:end]).strip():
                yield start, end


@lru_cache(8)
def tables_in(text: str) -> tuple[TextTable, ...]:
    """Return the tables of a text, in order."""
    if len(text) > _CHARACTERS_MAX or ("\n" not in text and "<" not in text):
        return ()
    if "<" in text and _HTML_TABLE.search(text):
        return tuple(_html(text))
    if "|" in text and _MARKDOWN_RULE.search(text):
        return tuple(_markdown(text))
    if ("\t" in text or "," in text or ";" in text) and (
        _THREE_LINES.search(text) or text.lstrip()[:1] == "{"
    ):
        return tuple(_separated(text))
    return ()


def _markdown(text: str) -> Iterator[TextTable]:
    done = 0
    for rule in _MARKDOWN_RULE.finditer(text):
        if rule.start() <= done or "|" not in rule[0]:
            continue
        above = text.rfind("\n", 0, rule.start() - 1) + 1
        names = column_names(_bars(text[above : rule.start()]))
        if names is None or len(_bars(rule[0])) != len(names):
            continue
        rows, end = [], rule.end()
        while end < len(text):
            line_end = text.find("\n", end + 1)
            line = text[end + 1 : line_end if line_end >= 0 else len(text)]
            if "|" not in line:
                break
            start = end + 1 + len(line) - len(line.lstrip())
            rows.append((start, start + len(line.strip()), _bars(line)))
            end += 1 + len(line)
        if table := _table(above, end, names, rows):
            yield table
            done = end


def _bars(line: str) -> list[str]:
    cells = _UNESCAPED_BAR.split(line.strip().removeprefix("|").removesuffix("|"))
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _separated(text: str) -> Iterator[TextTable]:
    """Yield the blocks of lines that are comma-, semicolon- or tab-separated, or JSON objects."""
    for block in _BLOCK.finditer(text):
        lines = block[0].splitlines(keepends=True)
        if len(lines) <= _ROWS_MIN - (lines[0].lstrip()[:1] == "{"):
            continue
        if lines[0].lstrip().startswith("{"):
            table = _json_lines(block.start(), lines)
        else:
            table = _of_separator(block.start(), lines)
        if table:
            yield table


def _of_separator(start: int, lines: list[str]) -> TextTable | None:
    for separator in ("\t", ";", ","):
        if separator not in lines[0] or separator not in lines[1]:
            continue
        names = _read(lines[:1], separator)
        header = column_names(names[0][1]) if len(names) == 1 else None
        if header is None or any(
            len(name) > _HEADER_CELL_MAX or name.endswith((".", "!")) for name in header
        ):
            continue
        if len({cell.strip() for cell in names[0][1]}) < len(header):
            continue
        rows, at, before = [], start + len(lines[0]), 0
        for last, cells in _read(lines[1:], separator):
            source = "".join(lines[1 + before : 1 + last])
            rows.append((at, at + len(source.rstrip("\r\n")), cells))
            at, before = at + len(source), last
        if (
            separator != "\t"
            and ", " in lines[0] + lines[1]
            and not _has_numbers([cells for *_, cells in rows])
        ):
            continue  # a sentence has a space after its comma
        if table := _table(start, at, header, rows):
            return table
    return None


def _has_numbers(rows: list[list[str]]) -> bool:
    """Return whether a column after the first holds only numbers."""
    columns = zip(*(cells[1:] for cells in rows), strict=False)
    return any(all(_NUMBER.fullmatch(cell.strip()) for cell in column) for column in columns)


def _read(lines: list[str], separator: str) -> list[tuple[int, list[str]]]:
    """Return the cells of each row, with the number of lines up to its end; empty if they cannot be read."""
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        return [(reader.line_num, cells) for cells in reader]
    except csv.Error:
        return []


def _json_lines(start: int, lines: list[str]) -> TextTable | None:
    rows, at = [], start
    for line in lines:
        words = line.strip()
        try:
            record = from_json(words) if words[:1] == "{" else None
        except (ValueError, RecursionError):
            return None
        if not isinstance(record, dict) or not record:
            return None
        first = at + line.index(words)
        rows.append(TextRow(first, first + len(words), record))
        at += len(line)
    return TextTable(start, at, tuple(rows))


def _table(
    start: int, end: int, names: list[str], rows: list[tuple[int, int, list[str]]]
) -> TextTable | None:
    """Return the rows that have a cell for each column; None if these are few."""
    fitting = [
        TextRow(first, last, record)
        for first, last, cells in rows
        if len(cells) == len(names)
        and sum(map(len, cells)) <= _ROW_CHARACTERS_MAX
        and (record := {name: cell for name, cell in zip(names, cells, strict=True) if cell})
    ]
    if len(fitting) < _ROWS_MIN or _RAGGED_SHARE * (len(rows) - len(fitting)) > len(rows):
        return None
    return TextTable(start, end, tuple(fitting))


def _html(text: str) -> Iterator[TextTable]:
    parser = _Tables(text)
    try:
        parser.feed(text)
    except (AssertionError, ValueError):  # a malformed declaration
        return
    for start, end, header, rows in parser.tables:
        names = column_names(header)
        if names is not None and (table := _table(start, end, names, rows)):
            yield table


class _Tables(HTMLParser):
    """The tables of a page without nested tables: their positions, the cells of their headers and of their rows."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[tuple[int, int, list[str], list[tuple[int, int, list[str]]]]] = []
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._text = text
        self._depth = 0
        self._is_nested = False
        self._start = self._row_start = 0
        self._header: list[str] = []
        self._rows: list[tuple[int, int, list[str]]] = []
        self._cells: list[str] = []
        self._is_head = True
        self._in_cell = False

    @property
    def _at(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._depth += 1
            self._is_nested = self._is_nested or self._depth > 1
            if self._depth == 1:
                self._start, self._header, self._rows = self._at, [], []
                self._cells = []
        elif tag == "tr":
            self._end_row(self._at)
            self._row_start, self._cells, self._is_head = self._at, [], True
        elif tag in ("td", "th"):
            self._cells.append("")
            self._in_cell = True
            self._is_head = self._is_head and tag == "th"
        elif tag == "br" and self._in_cell:
            self._cells[-1] += " "

    def handle_endtag(self, tag: str) -> None:
        end = self._text.find(">", self._at) + 1
        if tag in ("td", "th"):
            self._in_cell = False
        elif tag == "tr":
            self._end_row(end)
        elif tag == "table" and self._depth:
            self._depth -= 1
            if self._depth == 0:
                self._end_row(self._at)
                if not self._is_nested:
                    self.tables.append((self._start, end, self._header, self._rows))
                self._is_nested = False

    def handle_data(self, data: str) -> None:
        if self._in_cell and self._cells:
            self._cells[-1] += data

    def _end_row(self, end: int) -> None:
        cells = [" ".join(cell.split()) for cell in self._cells]
        if cells and self._is_head and not self._header and not self._rows:
            self._header = cells
        elif cells:
            self._rows.append((self._row_start, end, cells))
        self._cells, self._in_cell = [], False
