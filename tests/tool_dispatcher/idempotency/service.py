"""A service in a file of its own, which counts its requests: the runs, and their effects."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Service:
    """Honours keys if it is idempotent: then a key has one effect over any number of requests."""

    def __init__(self, folder: Path, *, is_idempotent: bool) -> None:
        self._file = folder / "service.sqlite"
        self._is_idempotent = is_idempotent
        with self._open() as database:
            database.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT)")
            database.execute("CREATE TABLE IF NOT EXISTS effects (receipt INTEGER PRIMARY KEY, key TEXT)")

    def note_run(self, key: str) -> None:
        with self._open() as database:
            database.execute("INSERT INTO runs VALUES (?)", (key,))

    def take_effect(self, key: str) -> int:
        """Make an effect and return its receipt."""
        with self._open() as database:
            if self._is_idempotent and (known := _receipt(database, key)) is not None:
                return known
            database.execute("INSERT INTO effects (key) VALUES (?)", (key,))
            (receipt,) = database.execute("SELECT max(receipt) FROM effects WHERE key = ?", (key,)).fetchone()
            return int(receipt)

    def receipt(self, key: str) -> int | None:
        """Return the receipt of the key's effect; None without an effect."""
        with self._open() as database:
            return _receipt(database, key)

    def count(self, what: str) -> int:
        """Return how many `runs` or `effects` there were."""
        with self._open() as database:
            (count,) = database.execute(f"SELECT count(*) FROM {what}").fetchone()
            return int(count)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self._file, timeout=30, isolation_level=None)
        try:
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")
        finally:
            database.close()


def _receipt(database: sqlite3.Connection, key: str) -> int | None:
    found = database.execute("SELECT receipt FROM effects WHERE key = ?", (key,)).fetchone()
    return None if found is None else int(found[0])
