"""The example's workflows book all or nothing after any failure, as counted in the ledger of the service."""

from collections import Counter
from datetime import date, timedelta
from typing import Any

import pytest

from antiphon import workflows
from antiphon.workflows.dry_run import cover
from examples.travel import check_availability, search_flights
from examples.travel.service import ledger
from examples.travel.timetable import seats_of
from tests.examples.travel.runs import FILE, SPECIFICATION, TRIP, a_plan, ran

FLIGHT = {"origin": "NYC", "destination": "LIS", "day": "2030-05-01", "passenger": "Ada Quill"}


def effects() -> Counter[str]:
    keys = [effect.key for effect in ledger()]
    assert len(keys) == len({*keys}), "no key has two effects"
    return Counter(effect.tool for effect in ledger())


def cheapest(day: str = "2030-05-01") -> Any:
    return search_flights(origin="NYC", destination="LIS", day=date.fromisoformat(day))[0]


def seats_left(flight: str) -> int:
    return int(check_availability(flight=flight).seats_left)


def a_sold_out_day() -> str:
    """Return a day whose cheapest flight has no seat."""
    days = (date(2030, 5, 1) + timedelta(days=n) for n in range(365))
    return next(day.isoformat() for day in days if not seats_of(cheapest(day.isoformat()).flight))


def test_the_file_holds_against_the_tools() -> None:
    assert workflows.validate(FILE, tools=["examples.travel"]) == ()


@pytest.mark.parametrize("name", SPECIFICATION.workflows)
def test_every_node_is_reached_and_only_intended_writes_remain(name: str) -> None:
    coverage = cover(a_plan(name), {}, {})
    assert (coverage.never_reached, coverage.is_cut) == ((), False)
    writes_left = {
        run.scenario.name: run.end.standing
        for run in coverage.runs
        if run.end.status != "completed" and run.end.standing
    }
    assert writes_left == ({"flight fails": ("room",)} if name == "cancel_trip" else {})
    assert all(run.end.unknown == () for run in coverage.runs)


def test_a_trip_is_booked_paid_and_confirmed_once() -> None:
    flight = cheapest().flight
    before = seats_left(flight)
    end = ran("book_trip", TRIP)
    assert end.status == "completed"
    assert end.output["trip"] == "T-1001"
    assert effects() == {"create_booking": 1, "process_payment": 1, "book_hotel": 1, "confirm_trip": 1}
    assert seats_left(flight) == before - 1


BOOKED = {"create_booking": 1, "process_payment": 1, "cancel_booking": 1}
STAYED = {"book_hotel": 1, "cancel_hotel": 1}


@pytest.mark.parametrize(
    ("failures", "done_and_undone"),
    [
        ("book_hotel:declined", {"create_booking": 1, "cancel_booking": 1}),
        ("search_hotels", BOOKED),
        ("create_booking:declined", STAYED),
        ("process_payment:declined", {"create_booking": 1, "cancel_booking": 1, **STAYED}),
        ("confirm_trip", {**BOOKED, **STAYED}),
    ],
)
def test_a_trip_of_which_a_part_fails_leaves_nothing(
    failures: str, done_and_undone: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAVEL_FAILURES", failures)
    flight = cheapest().flight
    before = seats_left(flight)
    end = ran("book_trip", TRIP)
    assert (end.status, end.standing) == ("compensated", ())
    assert effects() == done_and_undone
    assert seats_left(flight) == before


def test_a_booking_whose_answer_is_lost_is_for_a_person_to_review(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAVEL_FAILURES", "create_booking:timeout")
    end = ran("book_trip", TRIP)
    assert (end.status, end.unknown) == ("needs_review", ("both/flight/seat/booking",))
    assert effects()["create_booking"] == 1


def test_a_flight_that_is_sold_out_leads_to_its_waitlist_or_to_an_error() -> None:
    full = {**FLIGHT, "day": a_sold_out_day()}
    assert ran("book_flight", full).output["status"] == "waitlisted"
    end = ran("book_flight", {**full, "if_full": "error"})
    assert end.failure is not None
    assert end.failure.message == f"Flight {cheapest(full['day']).flight} is sold out."
    assert effects() == {"add_to_waitlist": 1}


def test_a_room_is_booked_once() -> None:
    booked = ran("book_hotel", {"city": "LIS", "check_in": "2030-05-01", "nights": 3, "guest": "Ada Quill"})
    assert (booked.output["stay"], booked.output["hotel"]) == ("H-1001", "lis-tiles")
    assert effects() == {"book_hotel": 1}


def test_a_read_that_fails_once_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAVEL_FAILURES", "search_flights:2,check_availability:1")
    assert ran("check_flight_status", {"flight": "NYC-LIS-20300501-1"}).output["flight"]
    assert ran("book_hotel", {"city": "LIS", "check_in": "2030-05-01", "nights": 2, "guest": "A"}).output
    assert ran("book_flight", FLIGHT).output["status"] == "paid"


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"day": "2030-05-01", "destination": "OSL"}, "No flight leaves NYC for OSL on 2030-05-01."),
        ({"destination": "XXX"}, "There is no city XXX."),
    ],
)
def test_a_flight_that_does_not_exist_is_not_booked(params: dict[str, str], why: str) -> None:
    end = ran("book_flight", {**FLIGHT, **params})
    assert end.failure is not None
    assert why in end.failure.message
    assert effects() == {}


def test_the_cheapest_day_is_not_always_the_first() -> None:
    days = [date(2030, 5, 1) + timedelta(days=n) for n in range(7)]
    found = [one for day in days for one in search_flights(origin="NYC", destination="LIS", day=day)]
    best = min(found, key=lambda one: (one.price_eur, one.day, one.departs)).model_dump(mode="json")
    assert best["day"] != "2030-05-01"
    answers = {"prices": [{"lowest": best["price_eur"], "highest": 700}], "cheapest": [best]}
    params = {"origin": "NYC", "destination": "LIS", "first_day": "2030-05-01"}
    assert ran("find_cheapest_across_dates", params, answers).output["day"] == best["day"]
    none = ran("find_cheapest_across_dates", params, {"prices": []})
    assert none.failure is not None
    assert none.failure.message == "No flight from NYC to LIS was found in 7 days from 2030-05-01."


def test_only_a_flight_that_a_person_approves_of_is_booked() -> None:
    refused = ran("book_with_approval", FLIGHT, {"approval": {"approved": False}})
    assert refused.failure is not None
    assert refused.failure.message == f"Nobody approved of flight {cheapest().flight}."
    assert (refused.status, effects()) == ("failed", {})
    approved = ran("book_with_approval", FLIGHT, {"approval": {"approved": True}})
    assert approved.output["flight"] == cheapest().flight
    assert effects() == {"create_booking": 1, "process_payment": 1}


def test_a_model_can_choose_only_existing_flights() -> None:
    params = {"origin": "NYC", "destinations": ["LIS", "ROM"], "day": "2030-05-01", "wish": "The sea"}
    flight = cheapest().model_dump(mode="json")
    answers = {
        "options": [{"text": "..."}],
        "choice": {"flight": flight["flight"], "why": "It has a sea."},
        "chosen": [flight],
    }
    end = ran("recommend_trip", params, answers)
    assert end.output["rooms"][0]["hotel"] == "lis-tiles"
    invented = ran("recommend_trip", params, {**answers, "chosen": []})
    assert invented.failure is not None
    assert "none of the flights" in invented.failure.message
    assert effects() == {}


def test_a_partly_cancelled_trip_names_the_cancelled_and_the_remaining_booking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trip = ran("book_trip", TRIP).output
    params = {"booking": trip["booking"], "stay": trip["stay"]}
    monkeypatch.setenv("TRAVEL_FAILURES", "cancel_booking:declined")
    end = ran("cancel_trip", params)
    assert (end.status, end.standing) == ("failed", ("room",))
    assert end.failure is not None
    assert end.failure.message.startswith(
        f"{trip['stay']} was cancelled, and {trip['booking']} could not be."
    )


def test_the_price_paid_for_a_trip_is_refunded() -> None:
    trip = ran("book_trip", TRIP).output
    end = ran("cancel_trip", {"booking": trip["booking"], "stay": trip["stay"]})
    assert end.output == {"refunded_eur": cheapest().price_eur}
