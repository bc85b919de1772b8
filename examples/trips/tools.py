"""Tools over a timetable of our own making. Bookings follow from their key, so a second run changes nothing."""

from datetime import date
from hashlib import blake2b
from typing import Any, Literal

from antiphon import ToolContext, tool

_PRICES = {"LIS": 180, "OSL": 240, "ROM": 120}
_NIGHT = 90


@tool(effect="read")
def find_flights(origin: str, destination: str, date: date) -> dict[str, Any]:
    """Find the flights of a day, the cheapest first."""
    if destination not in _PRICES or origin == destination:
        return {"found": []}
    number = f"{origin}-{destination}-{date:%Y%m%d}"
    prices = (_PRICES[destination], _PRICES[destination] + 60)
    return {"found": [{"id": f"{number}-{n}", "price": price} for n, price in enumerate(prices)]}


@tool(effect="read")
def weather_on(place: str, date: date) -> dict[str, Any]:
    """Tell what weather a place usually has on a day of the year."""
    return {"place": place, "date": date.isoformat(), "degrees": 12 + len(place) + date.month % 6}


@tool(effect="write", idempotent=True)
def book_flight(flight: str, seat: Literal["aisle", "window"], context: ToolContext) -> dict[str, Any]:
    """Book a seat on a flight that `find_flights` has found."""
    destination = flight.split("-")[1]
    return {"id": _booking(context), "flight": flight, "seat": seat, "price": _PRICES[destination]}


@tool(effect="write", idempotent=True)
def book_hotel(place: str, start: date, nights: int, context: ToolContext) -> dict[str, Any]:
    """Book a room."""
    return {"id": _booking(context), "place": place, "start": start.isoformat(), "price": _NIGHT * nights}


@tool(effect="write", idempotent=True)
def cancel_flight(booking: str) -> dict[str, Any]:
    """Cancel a booking of a flight."""
    return {"cancelled": booking}


@tool(effect="write", idempotent=True)
def cancel_hotel(booking: str) -> dict[str, Any]:
    """Cancel a booking of a room."""
    return {"cancelled": booking}


def _booking(context: ToolContext) -> str:
    return blake2b(str(context.idempotency_key).encode(), digest_size=6).hexdigest()
