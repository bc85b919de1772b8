"""The ten tools: seats and rooms run out, each write happens once, and a refusal has no effect."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import Any

import pytest

from examples.travel import (
    add_to_waitlist,
    book_hotel,
    cancel_booking,
    cancel_hotel,
    check_availability,
    confirm_trip,
    create_booking,
    process_payment,
    search_flights,
    search_hotels,
)
from examples.travel.service import ledger
from examples.travel.timetable import flight_called, flights_on
from examples.travel.values import Booking, Stay
from tests.tool_dispatcher.builders import a_context
from tool_dispatcher.authoring.reconcile import NO_EFFECT, TookEffect
from tool_dispatcher.authoring.tool import ToolFailed

MAY = date(2030, 5, 1)
FLIGHT = "NYC-LIS-20300501-1"


def keyed(key: str, fence: int = 0) -> Any:
    return a_context(idempotency_key=key, fence=fence)


def hold(key: str = "k1", flight: str = FLIGHT) -> Booking:
    return create_booking(flight, "Ada Quill", keyed(key))


def a_stay(key: str = "k2", hotel: str = "nyc-stoop", check_in: date = MAY, nights: int = 3) -> Stay:
    return book_hotel(hotel, check_in, nights, "Ada Quill", keyed(key))


def reconciled(key: str, fence: int) -> Any:
    assert process_payment.reconcile is not None
    return process_payment.reconcile(key, {}, keyed(key, fence))


def refusal(call: Callable[[], Any]) -> str:
    """Return the code that a call is refused with, and see that it had no effect."""
    before = ledger()
    with pytest.raises(ToolFailed) as failed:
        call()
    assert ledger() == before
    return failed.value.code or failed.value.error_type


def test_the_timetable_is_deterministic() -> None:
    found = flights_on("NYC", "LIS", MAY)
    assert [one.flight for one in found] == ["NYC-LIS-20300501-3", "NYC-LIS-20300501-1", "NYC-LIS-20300501-2"]
    assert [one.price_eur for one in found] == sorted(one.price_eur for one in found)
    assert flight_called(found[0].flight) == found[0]


def test_prices_differ_from_day_to_day_and_some_days_have_no_flight() -> None:
    days = [MAY + timedelta(days=n) for n in range(7)]
    lowest = [search_flights("NYC", "LIS", day)[0].price_eur for day in days]
    assert len({*lowest}) > 3
    assert [day.weekday() for day in days if search_flights("OSL", "ROM", day)] == [2, 4, 0]
    assert search_flights("NYC", "OSL", MAY) == []


def test_unknown_flights_hotels_bookings_and_dates_are_refused() -> None:
    assert refusal(lambda: search_flights("NYC", "XXX", MAY)) == "not_found"
    assert refusal(lambda: search_hotels("XXX", MAY, 1)) == "not_found"
    assert refusal(lambda: check_availability("NYC-LIS-20301399-1")) == "not_found"
    assert refusal(lambda: check_availability("NYC-LIS-20300501-9")) == "not_found"
    assert refusal(lambda: search_flights("NYC", "LIS", date(9999, 12, 31))) == "validation_error"
    assert refusal(lambda: cancel_booking("B-1000", keyed("k"))) == "not_found"


def test_a_key_books_one_seat_and_is_answered_as_before() -> None:
    before = check_availability(FLIGHT).seats_left
    first = hold("k1")
    assert cancel_booking(first.booking, keyed("k2")).cancelled == first.booking
    assert hold("k1") == first, "the answer is the one of the first effect"
    assert check_availability(FLIGHT).seats_left == before
    assert [(one.tool, one.key) for one in ledger()] == [("create_booking", "k1"), ("cancel_booking", "k2")]


def test_seats_run_out_under_concurrent_bookings() -> None:
    seats = check_availability(FLIGHT).seats_left

    def book(number: int) -> str:
        try:
            return hold(f"k{number}").status
        except ToolFailed as failed:
            return failed.code

    with ThreadPoolExecutor(4) as pool:
        found = sorted(pool.map(book, range(seats + 3)))
    assert found == ["SOLD_OUT"] * 3 + ["held"] * seats
    assert check_availability(FLIGHT).status == "sold_out"
    assert add_to_waitlist(FLIGHT, "Ada Quill", keyed("w")).status == "waitlisted"


def test_a_flight_with_seats_has_no_waitlist() -> None:
    assert refusal(lambda: add_to_waitlist(FLIGHT, "Ada Quill", keyed("w"))) == "HAS_SEATS"


def test_rooms_run_out_night_by_night() -> None:
    a_stay("k1", check_in=MAY, nights=2)
    assert refusal(lambda: a_stay("k2", check_in=MAY + timedelta(days=1), nights=2)) == "NO_ROOM"
    assert [one.hotel for one in search_hotels("NYC", MAY, 1)] == ["nyc-water"]
    later = a_stay("k3", check_in=MAY + timedelta(days=2), nights=2)
    cancel_hotel(later.stay, keyed("k4"))
    assert a_stay("k5", check_in=MAY + timedelta(days=2), nights=2).status == "booked"


def test_a_payment_must_be_the_whole_price_of_a_held_booking_and_is_made_once() -> None:
    booking = hold()
    price = booking.price_eur
    assert refusal(lambda: process_payment(booking.booking, price - 1, keyed("p"))) == "WRONG_AMOUNT"
    assert process_payment(booking.booking, price, keyed("p")).status == "paid"
    assert refusal(lambda: process_payment(booking.booking, price, keyed("p"))) == "NOT_HELD"
    assert cancel_booking(booking.booking, keyed("c1")).refunded_eur == price
    assert cancel_booking(booking.booking, keyed("c2")).refunded_eur == 0


def test_a_payment_can_be_asked_for_by_its_key() -> None:
    booking = hold()
    paid = process_payment(booking.booking, booking.price_eur, keyed("p", fence=1))
    assert reconciled("p", fence=2) == TookEffect(paid)


def test_a_reconciled_payment_fences_off_the_earlier_worker() -> None:
    booking = hold()

    def pay(fence: int) -> Any:
        return process_payment(booking.booking, booking.price_eur, keyed("p", fence))

    assert reconciled("p", fence=2) is NO_EFFECT
    assert refusal(lambda: pay(fence=1)) == "api_failure"
    assert pay(fence=2).status == "paid"


def test_only_a_paid_and_booked_trip_is_confirmed() -> None:
    booking, stay = hold(), a_stay()
    assert refusal(lambda: confirm_trip(booking.booking, stay.stay, keyed("t"))) == "NOT_PAID"
    process_payment(booking.booking, booking.price_eur, keyed("p"))
    trip = confirm_trip(booking.booking, stay.stay, keyed("t"))
    assert trip.total_eur == booking.price_eur + stay.price_eur
    cancel_hotel(stay.stay, keyed("c"))
    assert refusal(lambda: confirm_trip(booking.booking, stay.stay, keyed("t2"))) == "NOT_BOOKED"
