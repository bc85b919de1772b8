"""The records of the service that writes go to: a file of its own, which survives every kill."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

Stage = Literal["held", "answered"]
"""The state of a request at the service: received and not answered, or answered, possibly with a refusal."""

_TABLES = """
CREATE TABLE IF NOT EXISTS requests (run TEXT PRIMARY KEY, key TEXT NOT NULL, stage TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS effects (receipt INTEGER PRIMARY KEY, key TEXT NOT NULL, what TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS barriers (key TEXT PRIMARY KEY, fence INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS effects_by_key ON effects (key);
"""
_LIMIT_S = 30.0


class Effect(NamedTuple):
    """One effect that the service made."""

    receipt: int
    what: str


class ServiceRecords:
    """Every request, and every effect, by idempotency key. Each step is one transaction."""

    def __init__(self, file: Path) -> None:
        self._file = file
        with self._writing() as connection:
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)

    def note(self, run: str, key: str, stage: Stage) -> None:
        """Note the stage of a run's request."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO requests VALUES (?, ?, ?)", (run, key, stage))

    def take_effect(self, key: str, what: str, fence: int, honours_key: bool) -> int | None:
        """Make the effect and return its receipt; the first one's if the key is honoured; None if fenced off."""
        with self._writing() as connection:
            known = connection.execute("SELECT receipt FROM effects WHERE key = ?", (key,)).fetchone()
            if honours_key and known:
                return int(known[0])
            barrier = connection.execute("SELECT fence FROM barriers WHERE key = ?", (key,)).fetchone()
            if barrier and fence < barrier[0]:
                return None
            return connection.execute("INSERT INTO effects (key, what) VALUES (?, ?)", (key, what)).lastrowid

    def effect_of(self, key: str, fence: int) -> int | None:
        """Return the receipt of a key's effect. None, once returned, is final: lower fences are refused."""
        with self._writing() as connection:
            known = connection.execute("SELECT receipt FROM effects WHERE key = ?", (key,)).fetchone()
            if known:
                return int(known[0])
            raised = "INSERT INTO barriers VALUES (?, ?) ON CONFLICT DO UPDATE SET fence = max(fence, excluded.fence)"
            connection.execute(raised, (key, fence))
            return None

    def stages(self, runs: Iterable[str]) -> dict[str, Stage]:
        """Return the stages of the requests of some runs, if they have reached the service."""
        wanted = tuple(runs)
        marks = ", ".join("?" * len(wanted))
        with self._open() as connection:
            return dict(connection.execute(f"SELECT run, stage FROM requests WHERE run IN ({marks})", wanted))

    def held(self) -> int:
        """Return the requests that are not answered yet."""
        with self._open() as connection:
            (count,) = connection.execute("SELECT count(*) FROM requests WHERE stage = 'held'").fetchone()
            return int(count)

    def effects(self) -> dict[str, list[Effect]]:
        """Return the effects by key."""
        found: dict[str, list[Effect]] = {}
        with self._open() as connection:
            for key, receipt, what in connection.execute(
                "SELECT key, receipt, what FROM effects ORDER BY receipt"
            ):
                found.setdefault(key, []).append(Effect(receipt, what))
        return found

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self._file, timeout=_LIMIT_S, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")  # processes are killed here, not the machine
            yield connection
        finally:
            connection.close()
