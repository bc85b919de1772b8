"""The register's database and its first customers."""

import sqlite3
import tempfile
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from ..sqlite_file import SqliteFile
from .contacts import NewContact

_SCHEMA = """
    CREATE TABLE contacts (
        id INTEGER PRIMARY KEY,
        version INTEGER NOT NULL DEFAULT 1,
        name TEXT NOT NULL,
        email TEXT NOT NULL UNIQUE COLLATE NOCASE,
        phone TEXT,
        company TEXT,
        searchable TEXT NOT NULL
    );
    CREATE TABLE effects (
        key TEXT PRIMARY KEY,  -- the idempotency key, so that no effect can be noted twice
        result TEXT NOT NULL   -- JSON, as it was told when the effect took place
    );
"""
_FIRST_ID = 1001
_FIRST_CONTACTS = (
    ("Ines Halloran", "ines@tamarack-tea.example", "+14155550101", "Tamarack Tea"),
    ("Bruno Okafor", "bruno@tamarack-tea.example", "+14155550102", "Tamarack Tea"),
    ("Mirela Sand", "mirela.sand@northlight.example", "+442079460103", "Northlight Optics"),
    ("Joost van Wyk", "joost@dykewatch.example", "+31201234504", "Dykewatch"),
    ("Sanna Kallio", "sanna@kallio-boats.example", "+358401234505", "Kallio Boats"),
    ("Theo Marchetti", "theo@marchetti.example", None, None),
    ("Wanda Achterberg", "wanda@northlight.example", "+442079460107", "Northlight Optics"),
    ("Li Qiaolin", "qiaolin@paperlantern.example", "+862155550108", "Paper Lantern Press"),
)


class CrmSettings(BaseSettings):
    """Settings of the example, from the environment as `CRM_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="CRM_", env_ignore_empty=True)

    database: Path = Field(default_factory=lambda: Path(tempfile.gettempdir()) / "antiphon-crm.sqlite3")


def insert(connection: sqlite3.Connection, contact: NewContact, id: int | None = None) -> int:
    """Insert a contact; return its id. Raises sqlite3.IntegrityError when the e-mail address exists already."""
    row = (id, contact.name, contact.email, contact.phone, contact.company, searchable(contact))
    command = "INSERT INTO contacts (id, name, email, phone, company, searchable) VALUES (?, ?, ?, ?, ?, ?)"
    return int(connection.execute(command, row).lastrowid or 0)


def searchable(contact: NewContact) -> str:
    """Return the text that a lookup searches."""
    return "\n".join((contact.name, contact.email, contact.company or "")).casefold()


def _insert_first_contacts(connection: sqlite3.Connection) -> None:
    for id, (name, email, phone, company) in enumerate(_FIRST_CONTACTS, _FIRST_ID):
        insert(connection, NewContact(name=name, email=email, phone=phone, company=company), id)


CRM = SqliteFile(lambda: CrmSettings().database, _SCHEMA, _insert_first_contacts)
