"""A scripted model that books trips, with ten tools or by `w_book_trip`, and makes mistakes drawn by a seed.

It follows what the tools return, and undoes what it has booked where a later part fails. Its mistakes are assumptions,
not measurements of any model: see `Mistakes`. Each draw depends on the seed, the trip and the decision.
"""

import json
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any, NamedTuple, TypeVar

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from antiphon_shared.text.tokens import estimate_tokens

from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prompt import Prompt

_TRIP = re.compile(r"Traveller \d+")
_ROUND = re.compile(r"^Round (\d+)", re.MULTILINE)
_TRIES_MAX = 2
"""Of a call; after two rounds in which every call failed, a session has no tools any more."""
DONE, FAILED = "The trip is booked.", "The trip could not be booked."


class Mistakes(NamedTuple):
    """Probabilities of a model's mistakes."""

    forgets: float = 0.2
    """To cancel a booking after a failure; drawn for each booking."""
    books_again: float = 0.3
    """Another flight, hotel or day, after a call whose answer was lost."""
    stops_early: float = 0.05
    """And says that the trip is booked, before it is confirmed."""


PERFECT = Mistakes(0, 0, 0)


class Call(NamedTuple):
    """A tool call as the model writes it."""

    tool: str
    arguments: dict[str, Any]


class Result(NamedTuple):
    """The outcome of a call in the briefing: `ok`, or the kind of its error."""

    status: str
    facts: list[dict[str, Any]]

    def __bool__(self) -> bool:
        return self.status == "ok"


_NOTHING = Result("cancelled", [])
_PASSING = ("api_failure", "cancelled")


@dataclass(frozen=True)
class Trip:
    """A trip that somebody wants."""

    traveller: str
    origin: str
    destination: str
    start: date
    nights: int

    @property
    def stay(self) -> dict[str, Any]:
        """The arguments that say when."""
        return {"check_in": self.start.isoformat(), "nights": self.nights}

    @property
    def question(self) -> str:
        return (
            f"Book a trip for {self.traveller}: the cheapest flight from {self.origin} to {self.destination} on"
            f" {self.start}, and the cheapest hotel there for {self.nights} nights. All of it or nothing."
        )


Answer = TypeVar("Answer")
Steps = Generator[list[Call], list[Result], Answer]
"""Work of the model: rounds of calls, what came of them, and at the end what it has come to."""
Work = Steps[str]


class Booker:
    """The model's work on a trip: its calls, given the outcomes of the calls before."""

    def __init__(self, trip: Trip, mistakes: Mistakes, seed: int) -> None:
        self._trip, self._mistakes, self._seed = trip, mistakes, seed

    def by_workflow(self) -> Work:
        """Call `w_book_trip`."""
        trip = self._trip
        for day in range(2):
            start = trip.start + timedelta(days=day)
            params = {"origin": trip.origin, "destination": trip.destination, "start": start.isoformat()}
            (booked,) = yield [
                Call("w_book_trip", {**params, "nights": trip.nights, "traveller": trip.traveller})
            ]
            if not self._books_again("w_book_trip", booked):
                break
        return DONE if booked else FAILED

    def by_rounds(self) -> Work:
        """Call the tools that `w_book_trip` calls, in its order, and undo what it would undo."""
        flights, rooms = yield from self._found()
        if not flights or not rooms:
            return FAILED
        seat, room = yield from self._booked(flights, rooms)
        if seat and room and (yield from self._is_confirmed(seat, room)):
            return DONE
        yield from self._undo(seat, room)
        return FAILED

    def _found(self) -> Steps[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
        """Return flights and hotels, the cheapest first; no flights where the cheapest is sold out."""
        trip = self._trip
        route = {"origin": trip.origin, "destination": trip.destination, "day": trip.start.isoformat()}
        flights, rooms = yield [
            Call("search_flights", route),
            Call("search_hotels", {"city": trip.destination, **trip.stay}),
        ]
        if not flights.facts or not rooms.facts:
            return [], []
        (seats,) = yield [Call("check_availability", {"flight": flights.facts[0]["flight"]})]
        return (flights.facts if seats and seats.facts[0]["seats_left"] else []), rooms.facts

    def _booked(
        self, flights: list[dict[str, Any]], rooms: list[dict[str, Any]]
    ) -> Steps[tuple[Result, Result]]:
        """Return the results of booking a seat and a room; transient failures are tried again."""
        who = self._trip.traveller
        seat = room = _NOTHING
        flight, hotel = 0, 0
        for _ in range(_TRIES_MAX):
            calls = []
            if not seat:
                calls.append(Call("create_booking", {"flight": flights[flight]["flight"], "passenger": who}))
            if not room:
                stay = {"hotel": rooms[hotel]["hotel"], **self._trip.stay, "guest": who}
                calls.append(Call("book_hotel", stay))
            if not calls:
                break
            found = dict(zip([call.tool for call in calls], (yield calls), strict=True))
            seat, room = found.get("create_booking", seat), found.get("book_hotel", room)
            takes_other = (
                flight + 1 < len(flights) and self._books_again("seat", seat),
                hotel + 1 < len(rooms) and self._books_again("room", room),
            )
            flight, hotel = flight + takes_other[0], hotel + takes_other[1]
            if not all(
                one or one.status in _PASSING or other
                for one, other in zip((seat, room), takes_other, strict=True)
            ):
                break
        return seat, room

    def _is_confirmed(self, seat: Result, room: Result) -> Steps[bool]:
        booking = {"booking": seat.facts[0]["booking"]}
        (paid,) = yield [Call("process_payment", {**booking, "amount_eur": seat.facts[0]["price_eur"]})]
        if not paid or self._errs("stops early", self._mistakes.stops_early):
            return bool(paid)
        (confirmed,) = yield [Call("confirm_trip", {**booking, "stay": room.facts[0]["stay"]})]
        return bool(confirmed)  # its contract has tried it three times

    def _undo(self, seat: Result, room: Result) -> Steps[None]:
        calls = []
        if room and not self._errs("forgets the room", self._mistakes.forgets):
            calls.append(Call("cancel_hotel", {"stay": room.facts[0]["stay"]}))
        if seat and not self._errs("forgets the seat", self._mistakes.forgets):
            calls.append(Call("cancel_booking", {"booking": seat.facts[0]["booking"]}))
        for _ in range(_TRIES_MAX):
            results = (yield calls) if calls else []
            calls = [call for call, result in zip(calls, results, strict=True) if not result]

    def _books_again(self, what: str, result: Result) -> bool:
        return result.status == "outcome_unknown" and self._errs(what, self._mistakes.books_again)

    def _errs(self, what: str, probability: float) -> bool:
        return Random(f"{self._seed}/{self._trip.traveller}/{what}").random() < probability  # no secret


class BookingModel:
    """The model: one for all trips of a measurement."""

    def __init__(self, works: dict[str, Work]) -> None:
        self._works = works
        self._asked: dict[str, list[Call]] = {}
        self.calls = 0
        """Times that it was asked."""

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        """Return the next calls for the trip that the prompt is about, or the answer."""
        briefing = str(prompt["messages"][-1]["content"])
        found = _TRIP.search(briefing)
        assert found is not None, "a question that the model does not know"
        self.calls += 1
        work, asked = self._works[found[0]], self._asked.get(found[0])
        made: list[Call] | str
        try:
            made = next(work) if asked is None else work.send(_results(briefing, asked))
            self._asked[found[0]] = made
        except StopIteration as end:
            made = str(end.value)
        return _message(made, f"toolu_{self.calls}", estimate_tokens(json.dumps(prompt, default=str)))


def _results(briefing: str, calls: Sequence[Call]) -> list[Result]:
    """Return what the briefing shows of the last round's calls."""
    now = _ROUND.search(briefing[briefing.rindex("# Now") :])
    number = int(now[1]) - 1 if now else 0
    results = []
    for call in calls:
        tried = re.search(rf"^- round {number}: {call.tool} .*? -> (\w+)", briefing, re.MULTILINE)
        shown = re.search(
            rf'<result call="\S+" tool="{call.tool}" round="{number}".*?</result>', briefing, re.DOTALL
        )
        facts = re.findall(r"^F\d+ (\{.*\})$", shown[0], re.MULTILINE) if shown else []
        results.append(Result(tried[1] if tried else "cancelled", [json.loads(fact) for fact in facts]))
    return results


def _message(made: list[Call] | str, id: str, input_tokens: int) -> Message:
    content: list[TextBlock | ToolUseBlock]
    if isinstance(made, str):
        content = [TextBlock(type="text", text=made)]
    else:
        content = [
            ToolUseBlock(type="tool_use", id=f"{id}_{n}", name=call.tool, input=call.arguments)
            for n, call in enumerate(made)
        ]
    return Message(
        id=id,
        type="message",
        role="assistant",
        model="booking",
        content=content,
        stop_reason="end_turn" if isinstance(made, str) else "tool_use",
        stop_sequence=None,
        usage=Usage(input_tokens=input_tokens, output_tokens=estimate_tokens(json.dumps(made))),
    )
