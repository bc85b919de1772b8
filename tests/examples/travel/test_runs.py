"""The example's workflows over the whole pipeline: each write takes effect once or is undone after any failure."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.events.session import Response, RunOutcome

from antiphon import Antiphon, TooLate, UnknownSession, workflows
from antiphon.replay.testing.scripted import ScriptedModel
from examples.travel import search_flights
from examples.travel.service import ledger
from tests.bus.builders import eventually
from tests.examples.travel.runs import FILE, TRIP
from tests.examples.travel.test_workflows import BOOKED, FLIGHT, STAYED, cheapest, effects
from tests.flows.pipeline import pipeline

LIMIT_S = 60.0
SCOPES = ("read", "write", "travel:pay")
RECOMMEND = {"origin": "NYC", "destinations": ["LIS", "ROM"], "day": "2030-05-01", "wish": "The sea"}


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
async def antiphon(model: ScriptedModel) -> AsyncIterator[Antiphon]:
    async with Antiphon.embedded(["examples.travel"], model=model.model(), scopes=SCOPES) as embedded:
        yield embedded


async def run(antiphon: Antiphon, name: str, **params: Any) -> Response:
    return await workflows.run(antiphon, name, params, source=FILE, timeout_s=LIMIT_S)


def outcome(response: Response) -> RunOutcome:
    assert response.run is not None
    return response.run


async def waiting(antiphon: Antiphon, name: str, **params: Any) -> str:
    """Begin a run, and return its id once it waits for a person."""
    id = await workflows.start(antiphon, name, params, source=FILE)

    async def waits() -> bool:
        with suppress(UnknownSession):  # its query is not admitted yet
            return bool(await workflows.waiting(antiphon, id))
        return False

    await eventually(waits)
    return id


async def test_a_flight_is_booked_and_paid_once(antiphon: Antiphon) -> None:
    booked = await run(antiphon, "book_flight", **FLIGHT)
    assert booked.result == {
        "booking": "B-1001",
        "flight": cheapest().flight,
        "price_eur": cheapest().price_eur,
        "status": "paid",
    }
    assert effects() == {"create_booking": 1, "process_payment": 1}


async def test_a_trip_is_booked_confirmed_and_cancelled_once(antiphon: Antiphon) -> None:
    trip = (await run(antiphon, "book_trip", **TRIP)).result
    assert effects() == {"create_booking": 1, "process_payment": 1, "book_hotel": 1, "confirm_trip": 1}
    cancelled = await run(antiphon, "cancel_trip", booking=trip["booking"], stay=trip["stay"])
    assert cancelled.result == {"refunded_eur": cheapest().price_eur}
    assert effects() == {**BOOKED, **STAYED, "confirm_trip": 1}


@pytest.mark.parametrize(
    ("failures", "done_and_undone"),
    [
        ("book_hotel:declined", BOOKED),
        ("create_booking:declined", STAYED),
        ("confirm_trip", {**BOOKED, **STAYED}),
    ],
)
async def test_a_trip_of_which_a_part_fails_is_undone(
    failures: str, done_and_undone: dict[str, int], antiphon: Antiphon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAVEL_FAILURES", failures)
    response = await run(antiphon, "book_trip", **TRIP)
    assert (response.status, outcome(response).status, outcome(response).standing) == (
        "failed",
        "compensated",
        (),
    )
    # The payment may be missing when the room is refused; no booking remains.
    assert effects() in (done_and_undone, {"create_booking": 1, "cancel_booking": 1}, {})


@pytest.mark.parametrize("failures", ["process_payment:timeout:1,confirm_trip:2", "create_booking:timeout:2"])
async def test_writes_that_fail_or_whose_answer_is_lost_take_effect_once(
    failures: str, antiphon: Antiphon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAVEL_FAILURES", failures)
    response = await run(antiphon, "book_trip", **TRIP)
    assert outcome(response).status == "completed"
    assert effects() == {"create_booking": 1, "process_payment": 1, "book_hotel": 1, "confirm_trip": 1}


async def test_a_booking_whose_answer_is_lost_is_settled_by_a_person_and_the_run_resumed(
    antiphon: Antiphon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAVEL_FAILURES", "create_booking:timeout")
    lost = await run(antiphon, "book_flight", **FLIGHT)
    assert (outcome(lost).status, outcome(lost).is_resumable) == ("needs_review", True)
    assert effects() == {"create_booking": 1}
    booked = {"booking": "B-1001", "flight": cheapest().flight, "price_eur": cheapest().price_eur}
    await workflows.settle(antiphon, lost.session_id, "seat/booking", True, result=booked, by="Ann")
    await workflows.resume(antiphon, lost.session_id, by="Ann")

    async def has_ended_again() -> bool:
        response = await antiphon.open_bus().session(lost.session_id).response()
        return response is not None and response.status == "complete"

    await eventually(has_ended_again)
    assert effects() == {"create_booking": 1, "process_payment": 1}


async def test_the_cheapest_day_is_found_by_a_query_over_all_days(antiphon: Antiphon) -> None:
    days = {"origin": "NYC", "destination": "LIS", "first_day": "2030-05-01"}
    found = (await run(antiphon, "find_cheapest_across_dates", **days, num_days=5)).result
    flights = [one for day in range(1, 6) for one in search_flights("NYC", "LIS", date(2030, 5, day))]
    cheapest_first = sorted(flights, key=lambda one: (one.price_eur, one.day, one.departs))
    assert [one["flight"] for one in found["cheapest"]] == [one.flight for one in cheapest_first[:3]]
    assert found["prices"] == {
        "lowest": cheapest_first[0].price_eur,
        "highest": cheapest_first[-1].price_eur,
    }
    none = await run(antiphon, "find_cheapest_across_dates", **{**days, "destination": "OSL"})
    assert "No flight from NYC to OSL was found in 7 days" in none.answer


async def test_a_person_is_asked_for_a_valid_answer_and_only_the_first_counts(antiphon: Antiphon) -> None:
    id = await waiting(antiphon, "book_with_approval", **FLIGHT)
    assert effects() == {}
    refused = await workflows.give(antiphon, id, {"approved": "yes"})
    assert refused.refused.startswith("param 'approved'")
    (asked,) = await workflows.waiting(antiphon, id)
    assert cheapest().flight in asked.message
    outcomes = await asyncio.gather(
        workflows.give(antiphon, id, {"approved": True}, by="Ann"),
        workflows.give(antiphon, id, {"approved": True}, by="Bob"),
        return_exceptions=True,
    )
    late = next(one for one in outcomes if isinstance(one, BaseException))
    first = "Ann" if outcomes[1] is late else "Bob"
    assert isinstance(late, TooLate)
    assert f"{first} answered {asked.node} first" in str(late)
    response = await antiphon.result(id, LIMIT_S)
    assert response.result["flight"] == cheapest().flight
    assert effects() == {"create_booking": 1, "process_payment": 1}


async def test_a_model_chooses_from_the_results_it_looked_up(
    antiphon: Antiphon, model: ScriptedModel
) -> None:
    flight = cheapest().flight
    model.calls("search_hotels", city="LIS", check_in="2030-05-01", nights=2)
    model.calls("final_answer", flight=flight, why="Lisbon has a sea.")
    response = await run(antiphon, "recommend_trip", **RECOMMEND)
    assert response.result["flight"]["flight"] == flight
    assert response.result["rooms"][0]["hotel"] == "lis-tiles"
    assert (model.left, model.unexpected, effects()) == (0, [], {})


async def test_a_flight_that_a_model_invents_is_refused(antiphon: Antiphon, model: ScriptedModel) -> None:
    model.calls("final_answer", flight="NYC-LIS-20310101-9", why="It is quick.")
    response = await run(antiphon, "recommend_trip", **RECOMMEND)
    assert "The model chose NYC-LIS-20310101-9, which is none of the flights." in response.answer


def test_five_processes_book_a_trip_once_though_the_dispatcher_is_killed(tmp_path: Path) -> None:
    scopes = {"ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES": ",".join(SCOPES)}
    with pipeline(
        is_started=False,
        ANTIPHON_BUS_LEASE_S="2",
        ANTIPHON_TOOLS="examples.travel",
        TRAVEL_DATABASE=str(tmp_path / "travel.sqlite3"),
    ) as five:
        five.start(**scopes)
        five.wait_until_ready()

        async def begun() -> str:
            async with Antiphon(five.redis.url) as client:
                return await workflows.start(client, "book_trip", TRIP, source=FILE)

        id = asyncio.run(begun())
        five.until(lambda: bool(ledger()), "the first write")
        five.kill("tool_dispatcher")
        five.start("tool_dispatcher", **scopes)
        response = five.response_to(id)
    assert outcome(response).status == "completed", response.answer
    assert effects() == {"create_booking": 1, "process_payment": 1, "book_hotel": 1, "confirm_trip": 1}
