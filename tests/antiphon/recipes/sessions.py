"""Real sessions: the embedded pipeline over example tools, and a model that says what a test tells it to."""

from collections.abc import Sequence
from typing import Any

from antiphon import Antiphon
from antiphon.recording.lines import Line
from antiphon.recording.testing.scripted import ScriptedModel
from tests.antiphon.recording.recorded import closed_lines


async def session_of(model: ScriptedModel, question: str, tools: Sequence[Any]) -> list[Line]:
    """The recording of one session that may read and write."""
    pipeline = Antiphon.embedded(tools=list(tools), model=model.model(), scopes=("read", "write"))
    async with pipeline as antiphon:
        response = await antiphon.ask(question, max_rounds=10)
        lines = await closed_lines(antiphon, response.session_id)
    assert model.unexpected == []
    assert model.left == 0
    return lines


def a_booking(origin: str, destination: str, day: str, nights: int) -> ScriptedModel:
    """Looks at the weather and for flights, books the cheapest, and a room."""
    model = ScriptedModel()
    model.calls("find_flights", origin=origin, destination=destination, date=day)
    model.and_calls("weather_on", place=destination, date=day)
    model.calls("book_flight", flight=f"{origin}-{destination}-{day.replace('-', '')}-0", seat="aisle")
    model.calls("book_hotel", place=destination, start=day, nights=nights)
    return model.says("Both are booked.")
