"""Recordings that are put back into Redis, and exported from there again."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from antiphon import Antiphon
from antiphon.errors import AlreadyThere
from antiphon.observe import recent_sessions
from antiphon.recording.export import export, export_session, sessions_since
from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import EventLine, Header, Line, RecordLine
from antiphon.recording.put_back import put_back
from antiphon.recording.verify import verify
from coordinator.session import Session
from shared.bus.handling import STATE
from shared.bus.keys import Keys
from shared.bus.redis_bus import Bus
from shared.bus.signing import BadSignature, Signer
from shared.errors import UnreadableEvent
from shared.events import COMPONENTS, QuerySubmitted
from tests.antiphon.recording.recorded import events

KEY = "0123456789abcdef"


def beside(bus: Bus, name: str = "elsewhere", signer: Signer | None = None) -> Bus:
    """Another namespace of the same Redis, over the same connection."""
    keys = Keys(f"{bus.keys.namespace}{name}", bus.keys.partitions)
    other = Bus(bus.connections, keys, bus.settings, signer=signer)
    other.batcher = bus.batcher
    return other


@pytest.mark.parametrize("is_compressed", [False, True])
async def test_what_is_put_back_is_exported_as_it_was(
    bus: Bus, courses_lines: list[Line], tmp_path: Path, is_compressed: bool
) -> None:
    session_id = await put_back(bus, courses_lines)
    (first,) = await export(bus, [session_id], tmp_path / "first", is_compressed=is_compressed)
    other = beside(bus)
    assert await put_back(other, read_lines(first)) == session_id
    (second,) = await export(other, [session_id], tmp_path / "second", is_compressed=is_compressed)
    assert first.read_bytes() == second.read_bytes()
    assert list(read_lines(second)) == courses_lines
    assert verify(second).is_same
