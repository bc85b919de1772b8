"""Tables as documents: one for each row, below the title of the text or value around the table. Pure."""

from collections.abc import Iterator

from antiphon_shared.memory.filing.pieces import Part, Statement, as_json, join_titles, text_statements
from antiphon_shared.memory.filing.sentences import sections
from antiphon_shared.memory.filing.tables import Table, table_of
from antiphon_shared.memory.filing.text_tables import TextRow, TextTable
from antiphon_shared.memory.filing.titles import title_of
from antiphon_shared.text.splice import spliced

SMALL_CHARACTERS = 1500
SMALL_TABLE_CHARACTERS = 500
_MARK = "\n|t|\n"
"""A placeholder for a table while the text around it is read: a statement of its own."""


def large_table_in(value: object, path: str) -> Table | None:
    """Return the table that a value is, unless it is small enough to be shown whole, or has too large rows."""
    table = table_of(value, path)
    if table is None or len(as_json(path, value).text) <= SMALL_TABLE_CHARACTERS:
        return None
    is_fit = all(len(as_json("", row.record).text) <= SMALL_CHARACTERS for row in table.rows)
    return table if is_fit else None


def text_with_tables(
    text: str, tables: tuple[TextTable, ...], path: str, context: str, grain: int
) -> Iterator[Part]:
    """Yield a document per row, below the heading above the table, and the text between tables as usual."""
    waiting = list(reversed(tables))
    for heading, spans in sections(_mask_tables(text, tables), grain):
        title = join_titles(context, heading)
        held: list[Statement] = []
        for start, end in spans:
            at = start
            while waiting and waiting[-1].start < end:
                table = waiting.pop()
                held += text_statements(text, path, [(at, table.start), *table.other_spans(text)])
                yield from [Part(path, title, tuple(held))] if held else []
                yield from _rows_of_text(table.rows, path, title, grain)
                held, at = [], table.end
            held += text_statements(text, path, [(at, end)])
        if held:
            yield Part(path, title, tuple(held))


def _mask_tables(text: str, tables: tuple[TextTable, ...]) -> str:
    """Return the text, of the same length, with a mark in place of each table."""
    return spliced(text, ((one.start, one.end, _MARK.ljust(one.end - one.start)) for one in tables))


def _rows_of_text(rows: tuple[TextRow, ...], path: str, context: str, grain: int) -> Iterator[Part]:
    for at in range(0, len(rows), grain):
        group = rows[at : at + grain]
        records = [row.record for row in group]
        item = as_json(f"{path}[{group[0].start}:{group[-1].end}]", records[0] if grain == 1 else records)
        yield Part(path, join_titles(context, title_of(records[0])), (item,))


def rows_of(table: Table, path: str, context: str, grain: int) -> Iterator[Part]:
    for at in range(0, len(table.rows), grain):
        group = table.rows[at : at + grain]
        records = [row.record for row in group]
        position = group[0].position if len(group) == 1 else path
        statement = as_json(position, records[0] if len(group) == 1 else records)
        yield Part(position, join_titles(context, title_of(records[0])), (statement,))
