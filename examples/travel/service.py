"""The travel service: each write is one transaction, noted in a ledger under its idempotency key.

A write that comes again under its key is answered from the ledger. Payments are the exception: like many payment
services this one asks for no key to be safe, but can be asked what came of one (`payment_under`).
"""

import sqlite3
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from antiphon import ToolContext, ToolFailed

from .database import TRAVEL
from .failures import answering
from .timetable import HOTELS, Hotel, flight_called, nights_of, seats_of
from .values import Booking, Cancellation, Flight, Payment, Room, Stay, Trip

Result = TypeVar("Result", bound=BaseModel)
_IDS_FROM = 1000


class Effect(NamedTuple):
    """A write that took place."""

    tool: str
    key: str
    result: str


def ledger() -> list[Effect]:
    """Return every write, in the order in which they took place."""
    with TRAVEL.reading() as connection:
        rows = connection.execute("SELECT tool, key, result FROM ledger ORDER BY number")
        return [Effect(*row) for row in rows]


def written(
    tool: str, context: ToolContext, kind: type[Result], write: Callable[..., Result], *arguments: Any
) -> Result:
    """Write, and note the result under the call's key; answer a repeated call from the note."""
    with answering(tool, is_write=True), TRAVEL.writing() as connection:
        if (done := _noted(connection, context.idempotency_key)) is not None:
            return kind.model_validate_json(done)
        result = write(connection, *arguments)
        _note(connection, tool, context.idempotency_key, result)
        return result


def pay(booking: str, amount_eur: int, context: ToolContext) -> Payment:
    """Take a payment. A second one for the same booking is refused, also under the same key."""
    key = context.idempotency_key
    with answering("process_payment", is_write=True), TRAVEL.writing() as connection:
        if context.fence < _fence(connection, key):
            raise ToolFailed(
                "api_failure", "This payment was given up for a later attempt. Nothing was paid."
            )
        found = booking_called(connection, booking)
        if found.status != "held":
            raise refused("NOT_HELD", f"{booking} is {found.status}", "Pay for bookings that are held.")
        if amount_eur != found.price_eur:
            raise refused("WRONG_AMOUNT", f"{booking} costs {found.price_eur} euros", "Pay that amount.")
        command = "INSERT INTO payments (booking, amount_eur) VALUES (?, ?)"
        id = connection.execute(command, (_number(booking), amount_eur)).lastrowid or 0
        connection.execute("UPDATE bookings SET status = 'paid' WHERE id = ?", (_number(booking),))
        payment = Payment(payment=_id("P", id), booking=booking, amount_eur=amount_eur)
        _note(connection, "process_payment", key, payment)
        return payment


def payment_under(key: str, fence: int) -> Payment | None:
    """Return the payment under a key. For None, calls with a lower fence are refused from now on."""
    with TRAVEL.writing() as connection:
        if (done := _noted(connection, key)) is not None:
            return Payment.model_validate_json(done)
        fence = max(fence, _fence(connection, key))
        connection.execute("INSERT OR REPLACE INTO fences VALUES (?, ?)", (key, fence))
        return None


def seats_left(connection: sqlite3.Connection, flight: str) -> int:
    """Return the seats of a flight that are neither held nor paid."""
    command = "SELECT count(*) FROM bookings WHERE flight = ? AND status IN ('held', 'paid')"
    return max(seats_of(flight) - int(connection.execute(command, (flight,)).fetchone()[0]), 0)


def rooms_left(connection: sqlite3.Connection, hotel: Hotel, check_in: date, nights: int) -> int:
    """Return the rooms that are free in every night of a stay."""
    command = (
        "SELECT count(*) FROM stays"
        " WHERE hotel = :hotel AND status = 'booked' AND check_in <= :day AND :day < check_out"
    )
    nightly = [{"hotel": hotel.hotel, "day": day.isoformat()} for day in nights_of(check_in, nights)]
    return hotel.rooms - max(int(connection.execute(command, night).fetchone()[0]) for night in nightly)


def free_rooms(city: str, check_in: date, nights: int) -> list[Room]:
    """Return the hotels of a city with a free room, the cheapest first."""
    with TRAVEL.reading() as connection:
        rooms = [
            Room(
                hotel=one.hotel,
                name=one.name,
                city=one.city,
                price_eur=one.price_eur(check_in, nights),
                rooms_left=rooms_left(connection, one, check_in, nights),
            )
            for one in HOTELS.values()
            if one.city == city
        ]
    return sorted((one for one in rooms if one.rooms_left), key=lambda one: (one.price_eur, one.hotel))


def hold(connection: sqlite3.Connection, flight: str, passenger: str) -> Booking:
    """Hold a seat."""
    found = flight_of(flight)
    if not seats_left(connection, flight):
        raise refused("SOLD_OUT", f"{flight} is sold out", "Try another flight, or add_to_waitlist.")
    return _booked(connection, found, passenger, "held")


def wait_for(connection: sqlite3.Connection, flight: str, passenger: str) -> Booking:
    """Add a person to the waitlist of a flight that is sold out."""
    found = flight_of(flight)
    if seats_left(connection, flight):
        raise refused("HAS_SEATS", f"{flight} has seats", "Book one with create_booking.")
    return _booked(connection, found, passenger, "waitlisted")


def stay_at(connection: sqlite3.Connection, hotel: str, check_in: date, nights: int, guest: str) -> Stay:
    """Book a room."""
    found = hotel_of(hotel)
    if not rooms_left(connection, found, check_in, nights):
        raise refused("NO_ROOM", f"{found.name} has no room for that stay", "Look with search_hotels.")
    check_out = check_in + timedelta(days=nights)
    price_eur = found.price_eur(check_in, nights)
    row = (hotel, guest, check_in.isoformat(), check_out.isoformat(), price_eur, "booked")
    command = (
        "INSERT INTO stays (hotel, guest, check_in, check_out, price_eur, status) VALUES (?, ?, ?, ?, ?, ?)"
    )
    id = connection.execute(command, row).lastrowid or 0
    return stay_called(connection, _id("H", id))


def confirm(connection: sqlite3.Connection, booking: str, stay: str) -> Trip:
    """Confirm a paid booking and a stay as one trip."""
    flight, room = booking_called(connection, booking), stay_called(connection, stay)
    for part, status, wanted in ((booking, flight.status, "paid"), (stay, room.status, "booked")):
        if status != wanted:
            raise refused(f"NOT_{wanted.upper()}", f"{part} is {status}", "Confirm what is booked and paid.")
    total_eur = flight.price_eur + room.price_eur
    row = (_number(booking), _number(stay), total_eur)
    command = "INSERT INTO trips (booking, stay, total_eur) VALUES (?, ?, ?)"
    id = connection.execute(command, row).lastrowid or 0
    return Trip(trip=_id("T", id), booking=booking, stay=stay, total_eur=total_eur)


def cancel_booking(connection: sqlite3.Connection, booking: str) -> Cancellation:
    """Cancel a booking and refund its payment. One that is cancelled already stays so."""
    booking_called(connection, booking)
    connection.execute("UPDATE bookings SET status = 'cancelled' WHERE id = ?", (_number(booking),))
    command = "UPDATE payments SET is_refunded = 1 WHERE booking = ? AND NOT is_refunded RETURNING amount_eur"
    amounts = [int(row["amount_eur"]) for row in connection.execute(command, (_number(booking),)).fetchall()]
    return Cancellation(cancelled=booking, refunded_eur=sum(amounts))


def cancel_stay(connection: sqlite3.Connection, stay: str) -> Cancellation:
    """Cancel a stay, which is paid for at the hotel. One that is cancelled already stays so."""
    stay_called(connection, stay)
    connection.execute("UPDATE stays SET status = 'cancelled' WHERE id = ?", (_number(stay),))
    return Cancellation(cancelled=stay, refunded_eur=0)


def flight_of(flight: str) -> Flight:
    """Return the flight of that id. Raises ToolFailed."""
    if (found := flight_called(flight)) is None:
        raise ToolFailed("not_found", f"There is no flight {flight}.", "Find its id with search_flights.")
    return found


def hotel_of(hotel: str) -> Hotel:
    """Return the hotel of that id. Raises ToolFailed."""
    if hotel not in HOTELS:
        raise ToolFailed("not_found", f"There is no hotel {hotel}.", "Find its id with search_hotels.")
    return HOTELS[hotel]


def booking_called(connection: sqlite3.Connection, booking: str) -> Booking:
    """Return the booking of that id. Raises ToolFailed."""
    command = "SELECT flight, passenger, price_eur, status FROM bookings WHERE id = ?"
    row = connection.execute(command, (_number(booking),)).fetchone()
    if row is None:
        raise ToolFailed("not_found", f"There is no booking {booking}.", "Take its id from the booking.")
    return Booking(booking=booking, **dict(row))


def stay_called(connection: sqlite3.Connection, stay: str) -> Stay:
    """Return the stay of that id. Raises ToolFailed."""
    command = "SELECT hotel, guest, check_in, check_out, price_eur, status FROM stays WHERE id = ?"
    row = connection.execute(command, (_number(stay),)).fetchone()
    if row is None:
        raise ToolFailed("not_found", f"There is no stay {stay}.", "Take its id from the booking.")
    return Stay(stay=stay, **dict(row))


def refused(code: str, why: str, action: str) -> ToolFailed:
    """Return the error of a refused write, which had no effect."""
    return ToolFailed("validation_error", f"{why}. Nothing was written.", action, code=code)


def _booked(connection: sqlite3.Connection, flight: Flight, passenger: str, status: str) -> Booking:
    row = (flight.flight, passenger, flight.price_eur, status)
    command = "INSERT INTO bookings (flight, passenger, price_eur, status) VALUES (?, ?, ?, ?)"
    id = connection.execute(command, row).lastrowid or 0
    return booking_called(connection, _id("B", id))


def _noted(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute("SELECT result FROM ledger WHERE key = ?", (key,)).fetchone()
    return row["result"] if row else None


def _note(connection: sqlite3.Connection, tool: str, key: str, result: BaseModel) -> None:
    row = (tool, key, result.model_dump_json())
    connection.execute("INSERT INTO ledger (tool, key, result) VALUES (?, ?, ?)", row)


def _fence(connection: sqlite3.Connection, key: str) -> int:
    row = connection.execute("SELECT fence FROM fences WHERE key = ?", (key,)).fetchone()
    return int(row["fence"]) if row else 0


def _id(letter: str, number: int) -> str:
    return f"{letter}-{_IDS_FROM + number}"


def _number(id: str) -> int:
    return int(id.partition("-")[2]) - _IDS_FROM
