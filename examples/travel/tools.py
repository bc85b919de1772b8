"""The ten tools of the travel service."""

from datetime import date
from typing import Annotated, Any

from pydantic import Field

from antiphon import NO_EFFECT, TookEffect, ToolContext, ToolFailed, tool

from . import service
from .database import TRAVEL
from .failures import answering
from .service import written
from .timetable import CITIES, flights_on
from .values import (
    Availability,
    Booking,
    BookingId,
    Cancellation,
    City,
    Day,
    Euro,
    Flight,
    FlightId,
    HotelId,
    Nights,
    Payment,
    Person,
    Room,
    Stay,
    StayId,
    Trip,
)

_LAST_YEAR = 2100


@tool(
    effect="read",
    mode="parallel-safe",
    cache_ttl_s=60,
    next="check_availability",
    example={"origin": "NYC", "destination": "LIS", "day": "2030-05-01"},
)
def search_flights(origin: City, destination: City, day: Day) -> list[Flight]:
    """Find the flights of a day with their prices, the cheapest first. Whether they have seats is not said."""
    with answering("search_flights"):
        _known(origin, destination, day=day)
        return flights_on(origin, destination, day)


@tool(effect="read", max_concurrency=8, example={"flight": "NYC-LIS-20300501-1"})
def check_availability(flight: FlightId) -> Availability:
    """Look up the price of a flight and the seats that it has left."""
    with answering("check_availability"):
        found = service.flight_of(flight)
        with TRAVEL.reading() as connection:
            seats = service.seats_left(connection, flight)
        return Availability(**dict(found), seats_left=seats, status="open" if seats else "sold_out")


@tool(
    effect="write",
    mode="sequential-only",
    idempotent=True,
    retry=1,
    next="process_payment",
    example={"flight": "NYC-LIS-20300501-2", "passenger": "Ada Quill"},
)
def create_booking(flight: FlightId, passenger: Person, context: ToolContext) -> Booking:
    """Hold a seat on a flight."""
    return written("create_booking", context, Booking, service.hold, flight, passenger)


@tool(
    effect="write",
    mode="sequential-only",
    idempotent=True,
    example={"flight": "NYC-LIS-20300501-1", "passenger": "Ada Quill"},
)
def add_to_waitlist(flight: FlightId, passenger: Person, context: ToolContext) -> Booking:
    """Put somebody on the waitlist of a flight that is sold out."""
    return written("add_to_waitlist", context, Booking, service.wait_for, flight, passenger)


def _payment_outcome(key: str, arguments: dict[str, Any], context: ToolContext) -> Any:
    """Return whether the payment with that key was made; if not, earlier workers can no longer make it."""
    if payment := service.payment_under(key, context.fence):
        return TookEffect(payment)
    return NO_EFFECT


@tool(
    effect="write",
    mode="sequential-only",
    # Not idempotent: run again after it took effect, it would be refused. It is asked first.
    reconcile=_payment_outcome,
    retry=1,
    scopes=["travel:pay"],
    example={"booking": "B-1001", "amount_eur": 419},
)
def process_payment(booking: BookingId, amount_eur: Euro, context: ToolContext) -> Payment:
    """Pay for a booking that is held. It must be the whole price."""
    return service.pay(booking, amount_eur, context)


@tool(
    effect="read",
    mode="parallel-safe",
    next="book_hotel",
    example={"city": "LIS", "check_in": "2030-05-01", "nights": 3},
)
def search_hotels(city: City, check_in: Day, nights: Nights) -> list[Room]:
    """Find the hotels of a city that have a room for a stay, the cheapest first."""
    with answering("search_hotels"):
        _known(city, day=check_in)
        return service.free_rooms(city, check_in, nights)


@tool(
    effect="write",
    mode="sequential-only",
    idempotent=True,
    retry=1,
    example={"hotel": "lis-tiles", "check_in": "2030-05-01", "nights": 3, "guest": "Ada Quill"},
)
def book_hotel(hotel: HotelId, check_in: Day, nights: Nights, guest: Person, context: ToolContext) -> Stay:
    """Book a room. It is paid for at the hotel."""
    _known(day=check_in)
    return written("book_hotel", context, Stay, service.stay_at, hotel, check_in, nights, guest)


@tool(
    effect="write",
    mode="sequential-only",
    idempotent=True,
    example={"booking": "B-1001", "stay": "H-1001"},
)
def confirm_trip(booking: BookingId, stay: StayId, context: ToolContext) -> Trip:
    """Confirm a trip: a flight that is paid and a room that is booked."""
    return written("confirm_trip", context, Trip, service.confirm, booking, stay)


@tool(effect="write", mode="sequential-only", idempotent=True, example={"booking": "B-1001"})
def cancel_booking(
    booking: Annotated[BookingId, Field(description="Of a flight, or a place on a waitlist: B-1001.")],
    context: ToolContext,
) -> Cancellation:
    """Cancel the booking of a flight or a place on a waitlist. What was paid is paid back."""
    return written("cancel_booking", context, Cancellation, service.cancel_booking, booking)


@tool(effect="write", mode="sequential-only", idempotent=True, example={"stay": "H-1001"})
def cancel_hotel(stay: StayId, context: ToolContext) -> Cancellation:
    """Cancel the booking of a room."""
    return written("cancel_hotel", context, Cancellation, service.cancel_stay, stay)


def _known(*cities: str, day: date) -> None:
    """Refuse cities and days that are not in the timetable. Raises ToolFailed."""
    if unknown := [city for city in cities if city not in CITIES]:
        raise ToolFailed("not_found", f"There is no city {unknown[0]}.", f"There are: {', '.join(CITIES)}.")
    if day.year > _LAST_YEAR:
        raise ToolFailed("validation_error", f"The timetable ends with {_LAST_YEAR}.", "Take an earlier day.")
