"""The database of the assembly example: the catalogue, examples, and the lines that were deployed."""

import re
import sqlite3
import tempfile
from pathlib import Path
from typing import Literal

import orjson
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from ..sqlite_file import SqliteFile
from .catalogue import CATALOGUE, EXAMPLES
from .lines import ComponentDetails

_WORD = re.compile(r"\w+")
_SCHEMA = """
    CREATE TABLE components (
        name TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        summary TEXT NOT NULL,
        details TEXT NOT NULL  -- JSON of ComponentDetails
    );
    CREATE TABLE examples (
        summary TEXT NOT NULL,
        components TEXT NOT NULL   -- JSON
    );
    CREATE VIRTUAL TABLE component_texts USING fts5(text, tokenize='porter');
    CREATE VIRTUAL TABLE example_texts USING fts5(text, tokenize='porter');
    CREATE TABLE deployments (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,  -- the idempotency key, so that no deployment is made twice
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        line TEXT NOT NULL,        -- canonical JSON of the line, defaults filled in
        checksum TEXT NOT NULL,
        reason TEXT                -- why the line is broken; NULL when it runs
    );
"""

_SEARCHES = {
    "components": (
        "SELECT components.* FROM component_texts JOIN components ON components.rowid = component_texts.rowid"
        " WHERE component_texts MATCH ? ORDER BY bm25(component_texts), components.rowid LIMIT ?"
    ),
    "examples": (
        "SELECT examples.* FROM example_texts JOIN examples ON examples.rowid = example_texts.rowid"
        " WHERE example_texts MATCH ? ORDER BY bm25(example_texts), examples.rowid LIMIT ?"
    ),
}


class AssemblySettings(BaseSettings):
    """Settings of the example, from the environment as `ASSEMBLY_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="ASSEMBLY_", env_ignore_empty=True)

    database: Path = Field(default_factory=lambda: Path(tempfile.gettempdir()) / "antiphon-assembly.sqlite3")


def _insert_catalogue(connection: sqlite3.Connection) -> None:
    rows = [(one.component, one.kind, one.summary, one.model_dump_json()) for one in CATALOGUE]
    connection.executemany("INSERT INTO components VALUES (?, ?, ?, ?)", rows)
    examples = [(summary, orjson.dumps(components).decode()) for summary, components in EXAMPLES]
    connection.executemany("INSERT INTO examples VALUES (?, ?)", examples)
    connection.execute(
        "INSERT INTO component_texts (rowid, text)"
        " SELECT rowid, replace(name, '_', ' ') || ' ' || kind || ' ' || summary FROM components"
    )
    connection.execute("INSERT INTO example_texts (rowid, text) SELECT rowid, summary FROM examples")


DATABASE = SqliteFile(lambda: AssemblySettings().database, _SCHEMA, _insert_catalogue)


def all_components() -> list[ComponentDetails]:
    """Return the whole catalogue, in its order."""
    with DATABASE.reading() as connection:
        rows = connection.execute("SELECT details FROM components ORDER BY rowid").fetchall()
    return [ComponentDetails.model_validate_json(row["details"]) for row in rows]


def found(table: Literal["components", "examples"], query: str, limit: int) -> list[sqlite3.Row]:
    """Return the rows of a table that share a word with the query, the best first (BM25 of SQLite's FTS5)."""
    words = " OR ".join(f'"{word}"' for word in _WORD.findall(query))
    if not words:
        return []
    with DATABASE.reading() as connection:
        return connection.execute(_SEARCHES[table], (words, limit)).fetchall()
