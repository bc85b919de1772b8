"""The database of the travel service, and its settings."""

import sqlite3
import tempfile
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from ..sqlite_file import SqliteFile

_SCHEMA = """
    CREATE TABLE bookings (
        id INTEGER PRIMARY KEY,
        flight TEXT NOT NULL,
        passenger TEXT NOT NULL,
        price_eur INTEGER NOT NULL,
        status TEXT NOT NULL       -- as of Booking
    );
    CREATE INDEX bookings_of_flight ON bookings (flight, status);
    CREATE TABLE payments (
        id INTEGER PRIMARY KEY,
        booking INTEGER NOT NULL REFERENCES bookings,
        amount_eur INTEGER NOT NULL,
        is_refunded INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE stays (
        id INTEGER PRIMARY KEY,
        hotel TEXT NOT NULL,
        guest TEXT NOT NULL,
        check_in TEXT NOT NULL,
        check_out TEXT NOT NULL,
        price_eur INTEGER NOT NULL,
        status TEXT NOT NULL       -- as of Stay
    );
    CREATE INDEX stays_of_hotel ON stays (hotel, status);
    CREATE TABLE trips (
        id INTEGER PRIMARY KEY,
        booking INTEGER NOT NULL REFERENCES bookings,
        stay INTEGER NOT NULL REFERENCES stays,
        total_eur INTEGER NOT NULL
    );
    CREATE TABLE ledger (
        number INTEGER PRIMARY KEY,
        tool TEXT NOT NULL,
        key TEXT NOT NULL,         -- the idempotency key of the call
        result TEXT NOT NULL       -- JSON, as it was answered
    );
    CREATE INDEX ledger_of_key ON ledger (key);
    CREATE TABLE fences (
        key TEXT PRIMARY KEY,
        fence INTEGER NOT NULL     -- calls with a lower one are refused
    );
    CREATE TABLE failures (
        entry TEXT PRIMARY KEY,
        calls INTEGER NOT NULL
    );
"""


class TravelSettings(BaseSettings):
    """Settings of the example, from the environment as `TRAVEL_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="TRAVEL_", env_ignore_empty=True)

    database: Path = Field(default_factory=lambda: Path(tempfile.gettempdir()) / "antiphon-travel.sqlite3")
    failures: str = ""


def _insert_nothing(connection: sqlite3.Connection) -> None:
    """Begin without bookings; flights and hotels are in the timetable."""


TRAVEL = SqliteFile(lambda: TravelSettings().database, _SCHEMA, _insert_nothing)
