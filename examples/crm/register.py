"""The operations of the register, each in one transaction, and noted under its idempotency key."""

import sqlite3
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from pydantic import TypeAdapter

from .contacts import Contact, NewContact
from .database import CRM, insert, searchable

_CONTACTS = TypeAdapter(list[Contact])


class Taken(Exception):
    """An e-mail address is already in the register, or twice in one batch."""

    def __init__(self, index: int, email: str, by: str) -> None:
        super().__init__(f"{email} belongs to {by} already")
        self.index = index


class Changed(Exception):
    """A contact is not at the expected version."""

    def __init__(self, contact: Contact) -> None:
        super().__init__(f"{contact.customer} is at version {contact.version}")
        self.contact = contact


def find(text: str, limit: int) -> list[Contact]:
    """Return the contacts whose name, e-mail address or company contains `text`, by name."""
    command = "SELECT * FROM contacts WHERE instr(searchable, ?) > 0 ORDER BY name, id LIMIT ?"
    with CRM.reading() as connection:
        return [_contact(row) for row in connection.execute(command, (text.strip().casefold(), limit))]


def nearest(text: str) -> list[str]:
    """Return names and companies that are spelt much like `text`."""
    with CRM.reading() as connection:
        rows = connection.execute("SELECT name, company FROM contacts LIMIT 10000").fetchall()
    known = {word for row in rows for word in row if word}
    return get_close_matches(text, sorted(known), n=3)


def create(contacts: Sequence[NewContact], key: str) -> list[Contact]:
    """Put all of the contacts into the register, or none; only once under one key.

    Raises Taken.
    """
    with CRM.writing() as connection:
        if (done := _effect(connection, key)) is not None:
            return done
        created = [_create(connection, index, contact) for index, contact in enumerate(contacts)]
        _note(connection, key, created)
        return created


def update(customer: str, version: int, changes: Mapping[str, str], key: str) -> Contact | None:
    """Change a contact and return it; None when there is no such customer. Raises Changed, Taken.

    It is changed only if it is still at `version`: of two calls with the same version one takes effect.
    """
    with CRM.writing() as connection:
        if (contact := _by_id(connection, customer)) is None:
            return None
        if contact.version != version:
            raise Changed(contact)
        changed = contact.model_copy(update={**changes, "version": version + 1})
        _store(connection, changed)
        _note(connection, key, [changed])
        return changed


def effect_of(key: str) -> list[Contact] | None:
    """Return the result noted under an idempotency key, or None."""
    with CRM.reading() as connection:
        return _effect(connection, key)


def _create(connection: sqlite3.Connection, index: int, contact: NewContact) -> Contact:
    try:
        id = insert(connection, contact)
    except sqlite3.IntegrityError:
        raise Taken(index, contact.email, _owner(connection, contact.email)) from None
    return Contact(customer=f"C-{id}", version=1, **contact.model_dump())


def _store(connection: sqlite3.Connection, contact: Contact) -> None:
    row = (contact.version, contact.email, contact.phone, contact.company, searchable(contact))
    command = (
        "UPDATE contacts SET version = ?, email = ?, phone = ?, company = ?, searchable = ? WHERE id = ?"
    )
    try:
        connection.execute(command, (*row, _number(contact.customer)))
    except sqlite3.IntegrityError:
        raise Taken(0, contact.email, _owner(connection, contact.email)) from None


def _owner(connection: sqlite3.Connection, email: str) -> str:
    row = connection.execute("SELECT id, name FROM contacts WHERE email = ?", (email,)).fetchone()
    return f"C-{row['id']} ({row['name']})"


def _by_id(connection: sqlite3.Connection, customer: str) -> Contact | None:
    row = connection.execute("SELECT * FROM contacts WHERE id = ?", (_number(customer),)).fetchone()
    return _contact(row) if row else None


def _contact(row: sqlite3.Row) -> Contact:
    fields = ("version", "name", "email", "phone", "company")
    return Contact(customer=f"C-{row['id']}", **{name: row[name] for name in fields})


def _number(customer: str) -> int:
    return int(customer.removeprefix("C-"))


def _effect(connection: sqlite3.Connection, key: str) -> list[Contact] | None:
    row = connection.execute("SELECT result FROM effects WHERE key = ?", (key,)).fetchone()
    return _CONTACTS.validate_json(row["result"]) if row else None


def _note(connection: sqlite3.Connection, key: str, result: list[Contact]) -> None:
    noted = (key, _CONTACTS.dump_json(result).decode())
    connection.execute("INSERT INTO effects (key, result) VALUES (?, ?)", noted)
