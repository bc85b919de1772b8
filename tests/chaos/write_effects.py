"""The records of the service that writes go to: a file of its own, which survives every kill."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

Stage = Literal["held", "answered"]
"""How far the service is with a request: it has it and has not answered; it has answered, be it with a refusal."""

_TABLES = """
CREATE TABLE IF NOT EXISTS requests (run TEXT PRIMARY KEY, key TEXT NOT NULL, stage TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS effects (receipt INTEGER PRIMARY KEY, key TEXT NOT NULL, what TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS barriers (key TEXT PRIMARY KEY, fence INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS effects_by_key ON effects (key);
"""
_LIMIT_S = 30.0


class Effect(NamedTuple):
    """One thing that was really done."""

    receipt: int
    what: str


class Books:
    """Every request, and every effect, by idempotency key. Each step is one transaction."""

    def __init__(self, file: Path) -> None:
        self._file = file
        with self._writing() as books:
            for statement in filter(str.strip, _TABLES.split(";")):
                books.execute(statement)

    def note(self, run: str, key: str, stage: Stage) -> None:
        """Note the stage of a run's request."""
        with self._writing() as books:
            books.execute("INSERT OR REPLACE INTO requests VALUES (?, ?, ?)", (run, key, stage))

    def take_effect(self, key: str, what: str, fence: int, honours_key: bool) -> int | None:
        """Make the effect and return its receipt; the first one's if the key is honoured; None if fenced off."""
        with self._writing() as books:
            known = books.execute("SELECT receipt FROM effects WHERE key = ?", (key,)).fetchone()
            if honours_key and known:
                return int(known[0])
            barrier = books.execute("SELECT fence FROM barriers WHERE key = ?", (key,)).fetchone()
            if barrier and fence < barrier[0]:
                return None
            return books.execute("INSERT INTO effects (key, what) VALUES (?, ?)", (key, what)).lastrowid

    def effect_of(self, key: str, fence: int) -> int | None:
        """Return the receipt of a key's effect. None, once returned, is final: lower fences are refused."""
        with self._writing() as books:
            known = books.execute("SELECT receipt FROM effects WHERE key = ?", (key,)).fetchone()
            if known:
                return int(known[0])
            raised = "INSERT INTO barriers VALUES (?, ?) ON CONFLICT DO UPDATE SET fence = max(fence, excluded.fence)"
            books.execute(raised, (key, fence))
            return None

    def stages(self, runs: Iterable[str]) -> dict[str, Stage]:
        """Return the stages of the requests of some runs, if they have reached the service."""
        wanted = tuple(runs)
        marks = ", ".join("?" * len(wanted))
        with self._open() as books:
            return dict(books.execute(f"SELECT run, stage FROM requests WHERE run IN ({marks})", wanted))

    def held(self) -> int:
        """Return the requests that are not answered yet."""
        with self._open() as books:
            (count,) = books.execute("SELECT count(*) FROM requests WHERE stage = 'held'").fetchone()
            return int(count)

    def effects(self) -> dict[str, list[Effect]]:
        """Return the effects by key."""
        found: dict[str, list[Effect]] = {}
        with self._open() as books:
            for key, receipt, what in books.execute(
                "SELECT key, receipt, what FROM effects ORDER BY receipt"
            ):
                found.setdefault(key, []).append(Effect(receipt, what))
        return found

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._open() as books:
            books.execute("BEGIN IMMEDIATE")
            yield books
            books.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        books = sqlite3.connect(self._file, timeout=_LIMIT_S, isolation_level=None)
        try:
            books.execute("PRAGMA journal_mode = WAL")
            books.execute("PRAGMA synchronous = OFF")  # processes are killed here, not the machine
            yield books
        finally:
            books.close()
