"""Real sessions: the embedded pipeline over example tools, and a scripted model."""

import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from antiphon import Antiphon
from antiphon.recording.lines import Line
from antiphon.replay.testing.scripted import ScriptedModel
from examples.travel.timetable import HOTELS, flights_on
from tests.antiphon.recording.recorded import closed_lines

TRAVEL = ["examples.travel"]


async def session_of(model: ScriptedModel, question: str, tools: Sequence[Any]) -> list[Line]:
    """Record one session that may read, write and pay, over a travel service of its own."""
    scopes = ("read", "write", *(("travel:pay",) if tools == TRAVEL else ()))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRAVEL_DATABASE", str(Path(folder) / "travel.sqlite3"))
        pipeline = Antiphon.embedded(tools=list(tools), model=model.model(), scopes=scopes)
        async with pipeline as antiphon:
            response = await antiphon.ask(question, max_rounds=10)
            lines = await closed_lines(antiphon, response.session_id)
    assert model.unexpected == []
    assert model.left == 0
    return lines


def a_booking(origin: str, destination: str, day: str, nights: int) -> ScriptedModel:
    """Look for flights, and for rooms at both ends; book the cheapest at the destination, and pay the flight."""
    flight = flights_on(origin, destination, date.fromisoformat(day))[0].flight
    rooms = (one for one in HOTELS.values() if one.city == destination)
    hotel = min(rooms, key=lambda one: one.price_eur(date.fromisoformat(day), nights)).hotel
    model = ScriptedModel()
    model.calls("search_flights", origin=origin, destination=destination, day=day)
    model.and_calls("search_hotels", city=destination, check_in=day, nights=nights)
    model.and_calls("search_hotels", city=origin, check_in=day, nights=nights)
    model.calls("create_booking", flight=flight, passenger="Ada Quill")
    model.and_calls("process_payment", booking="${calls[0].booking}", amount_eur="${calls[0].price_eur}")
    model.calls("book_hotel", hotel=hotel, check_in=day, nights=nights, guest="Ada Quill")
    return model.says("Both are booked.")
