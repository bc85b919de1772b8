"""A SQLite file that several processes may use at once, made with its first rows at first use.

CRM = SqliteFile(lambda: CrmSettings().database, SCHEMA, insert_first_rows)
with CRM.writing() as connection:
    ...
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

_BUSY_S = 5.0


@dataclass(frozen=True)
class SqliteFile:
    """A database in one file.

    Args:
        path: Returns the path of the file; it is called at each use, so that settings may change.
        schema: CREATE statements, each ended by a semicolon and a line end.
        insert_first_rows: Fills the database once, in the transaction that makes it.
    """

    path: Callable[[], Path]
    schema: str
    insert_first_rows: Callable[[sqlite3.Connection], None]

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a connection to look things up with."""
        with closing(sqlite3.connect(self.path(), timeout=_BUSY_S, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            if not is_made(connection):
                self._make(connection)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that excludes all other writers: it keeps all of its changes, or none."""
        with self.reading() as connection, _transaction(connection):
            yield connection

    def _make(self, connection: sqlite3.Connection) -> None:
        """Make the tables. Several processes may come here at once; the first one makes them."""
        with _transaction(connection):
            if is_made(connection):
                return
            for statement in filter(str.strip, self.schema.split(";\n")):
                connection.execute(statement)
            self.insert_first_rows(connection)
            connection.execute("PRAGMA user_version = 1")


def is_made(connection: sqlite3.Connection) -> bool:
    """Return whether the tables are there."""
    return bool(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
