"""Books the same trips by rounds and by `w_book_trip`, under the same failures, and counts the bookings left."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Literal

from antiphon_shared.events import ChildEnded
from antiphon_shared.events.session import Response
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.logs import silence

from antiphon import Antiphon, workflows
from benchmarks.trips.model import PERFECT, Booker, BookingModel, Mistakes, Trip
from examples import travel
from examples.travel.database import TRAVEL

WORKFLOWS = Path(travel.__file__).with_name("workflows.yaml")
TRIPS, SEED = 100, 1
FAILS = 0.5
"""Share of trips in which one tool fails."""
INPUT_USD, OUTPUT_USD = 3.0, 15.0
"""Prices of a million tokens."""
_FAILING = ("create_booking", "process_payment", "book_hotel", "confirm_trip")
_KINDS = ("down", "declined", "timeout", "down:1", "declined:1", "timeout:1")
_ROUTES = (("NYC", "LIS"), ("LIS", "ROM"), ("ROM", "VIE"), ("OSL", "VIE"), ("LIS", "VIE"))
_ROUNDS_MAX = 20
_LEFT = {
    "seats": "SELECT count(*) FROM bookings WHERE status IN ('held', 'paid') AND id NOT IN (SELECT booking FROM trips)",
    "rooms": "SELECT count(*) FROM stays WHERE status = 'booked' AND id NOT IN (SELECT stay FROM trips)",
    "payments": "SELECT count(*) FROM payments WHERE NOT is_refunded AND booking NOT IN (SELECT booking FROM trips)",
    "trips": "SELECT count(*) FROM trips JOIN bookings ON bookings.id = booking JOIN stays ON stays.id = stay"
    " WHERE bookings.status = 'paid' AND stays.status = 'booked'",
}

Way = Literal["rounds", "workflow"]
Figures = tuple[str, str, str, str, str]
"""A name, its value by rounds and by the workflow, and both again with a model that makes no mistakes."""


@dataclass(frozen=True)
class Outcome:
    """One trip after its session has ended."""

    response: Response
    model_calls: int
    tool_calls: int
    """The calls of the model, and of the runs that it began."""
    took_s: float
    left: dict[str, int]

    @property
    def is_wrong(self) -> bool:
        return any(self.left[what] for what in ("seats", "rooms", "payments"))

    @property
    def is_silent(self) -> bool:
        """True if something is wrong, and the answer names no write that a person has to check."""
        kinds = {one.kind for one in self.response.uncertainty}
        return self.is_wrong and "outcome_unknown" not in kinds


def measure(number: int = TRIPS, seed: int = SEED) -> list[Figures]:
    """Return a row for each figure, over that many trips drawn by the seed."""
    silence("critical")  # failed calls are what is measured
    ways: tuple[Way, Way] = ("rounds", "workflow")
    every = [
        asyncio.run(booked(way, number, seed, mistakes)) for mistakes in (Mistakes(), PERFECT) for way in ways
    ]

    def row(name: str, figure: Callable[[list[Outcome]], str]) -> Figures:
        erring, by_workflow, perfect, perfect_by_workflow = map(figure, every)
        return (name, erring, by_workflow, perfect, perfect_by_workflow)

    def mean(figure: Callable[[Outcome], float]) -> Callable[[list[Outcome]], str]:
        return lambda them: f"{fmean(map(figure, them)):,.1f}"

    def left(what: str) -> Callable[[list[Outcome]], str]:
        return lambda them: str(sum(one.left[what] for one in them))

    return [
        row("trips booked", left("trips")),
        row("seats left without a trip", left("seats")),
        row("rooms left without a trip", left("rooms")),
        row("payments left without a trip", left("payments")),
        row("trips with something wrong", lambda them: str(sum(one.is_wrong for one in them))),
        row("of them not reported for review", lambda them: str(sum(one.is_silent for one in them))),
        row("model calls of a trip", mean(lambda one: one.model_calls)),
        row("tool calls of the model", mean(lambda one: one.response.tool_calls_used)),
        row("tool calls in all", mean(lambda one: one.tool_calls)),
        row("input tokens", mean(lambda one: one.response.usage.input_tokens)),
        row("output tokens", mean(lambda one: one.response.usage.output_tokens)),
        row("USD for 1,000 trips", lambda them: f"{1000 * fmean(map(_usd, them)):,.2f}"),
        row("ms of a trip, median", lambda them: f"{1000 * median(one.took_s for one in them):,.0f}"),
    ]


async def booked(way: Way, number: int, seed: int, mistakes: Mistakes) -> list[Outcome]:
    """Return the outcome of each trip, one after the other, each with a travel service of its own."""
    trips = [_trip(place, Random(f"{seed}/{place}")) for place in range(number)]  # a draw, no secret
    bookers = {trip.traveller: Booker(trip, mistakes, seed) for trip in trips}
    model = BookingModel(
        {name: one.by_rounds() if way == "rounds" else one.by_workflow() for name, one in bookers.items()}
    )
    scopes = ("read", "write", "travel:pay")
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ANTIPHON_BREAKER_CALLS_MIN"] = "1000"  # a failure of one trip is not to reach the next
        try:
            async with Antiphon.embedded(
                ["examples.travel"], model=model, scopes=scopes, cache=False
            ) as antiphon:
                (published,) = await workflows.publish(antiphon, [WORKFLOWS], tools=["examples.travel"])
                tools = [f"w_{name}" for name in published.workflows] if way == "workflow" else travel.__all__
                outcomes = []
                for place, trip in enumerate(trips):
                    os.environ["TRAVEL_DATABASE"] = f"{folder}/{place}.sqlite3"
                    os.environ["TRAVEL_FAILURES"] = _failures(Random(f"{seed}/{place}/failures"))
                    outcomes.append(await _outcome(antiphon, model, trip, tools))
                return outcomes
        finally:
            os.environ.clear()
            os.environ.update(before)


async def _outcome(antiphon: Antiphon, model: BookingModel, trip: Trip, tools: Sequence[str]) -> Outcome:
    calls, begun = model.calls, monotonic_s()
    response = await antiphon.ask(
        trip.question, tools=list(tools), max_rounds=_ROUNDS_MAX, max_tool_calls=60, max_tokens=1_000_000
    )
    took_s = monotonic_s() - begun
    log = await antiphon.open_bus().session(response.session_id).log()
    runs = [event.data.response for _, event in log if isinstance(event.data, ChildEnded)]
    with TRAVEL.reading() as connection:
        left = {what: int(connection.execute(query).fetchone()[0]) for what, query in _LEFT.items()}
    return Outcome(
        response=response,
        model_calls=model.calls - calls,
        tool_calls=response.tool_calls_used + sum(run.tool_calls_used for run in runs),
        took_s=took_s,
        left=left,
    )


def _trip(place: int, draw: Random) -> Trip:
    origin, destination = draw.choice(_ROUTES)
    start = date(2030, 5, 1) + timedelta(days=draw.randrange(300))
    return Trip(f"Traveller {place}", origin, destination, start, draw.randint(1, 7))


def _failures(draw: Random) -> str:
    """Return what TRAVEL_FAILURES is for a trip."""
    return f"{draw.choice(_FAILING)}:{draw.choice(_KINDS)}" if draw.random() < FAILS else ""


def _usd(one: Outcome) -> float:
    usage = one.response.usage
    return (usage.input_tokens * INPUT_USD + usage.output_tokens * OUTPUT_USD) / 1_000_000
