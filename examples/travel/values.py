"""The values that the tools exchange: flights, rooms, bookings, payments."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, Field

City = Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="City by three capitals, such as LIS.")]
Day = Annotated[date, Field(description="Date, such as 2030-05-01.")]
Nights = Annotated[int, Field(ge=1, le=30)]
FlightId = Annotated[
    str,
    Field(pattern=r"^[A-Z]{3}-[A-Z]{3}-[0-9]{8}-[1-9]$", description="Flight, such as NYC-LIS-20300501-1."),
]
HotelId = Annotated[
    str, Field(pattern=r"^[a-z]{3}-[a-z]{3,20}$", description="Hotel, as search_hotels names it.")
]
BookingId = Annotated[
    str,
    Field(pattern=r"^B-[1-9][0-9]{3,8}$", description="Booking of a flight or place on a waitlist: B-1001."),
]
StayId = Annotated[str, Field(pattern=r"^H-[1-9][0-9]{3,8}$", description="Booking of a room: H-1001.")]
Person = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^\S(.*\S)?$", description="Full name.")]
Euro = Annotated[int, Field(ge=1, le=100_000, description="Whole euros.")]


class Flight(BaseModel):
    """A flight of the timetable."""

    flight: FlightId
    origin: City
    destination: City
    day: date
    departs: str = Field(description="Local time, such as 07:25.")
    price_eur: int


class Availability(Flight):
    """A flight with the seats that are left."""

    seats_left: int
    status: Literal["open", "sold_out"]


class Booking(BaseModel):
    """A seat on a flight, or a place on its waitlist."""

    booking: BookingId
    flight: FlightId
    passenger: Person
    price_eur: int
    status: Literal["held", "paid", "waitlisted", "cancelled"]


class Payment(BaseModel):
    """A payment for a booking, which it makes a paid one."""

    payment: str
    booking: BookingId
    amount_eur: int
    status: Literal["paid"] = "paid"


class Cancellation(BaseModel):
    """A booking or stay that was cancelled."""

    cancelled: str
    refunded_eur: int = Field(description="What was paid back; 0 where nothing had been paid.")


class Room(BaseModel):
    """A hotel that has a room for every night of a stay."""

    hotel: HotelId
    name: str
    city: City
    price_eur: int = Field(description="For all nights.")
    rooms_left: int


class Stay(BaseModel):
    """A room that was booked."""

    stay: StayId
    hotel: HotelId
    guest: Person
    check_in: date
    check_out: date
    price_eur: int
    status: Literal["booked", "cancelled"]


class Trip(BaseModel):
    """A paid flight and a room that belong together."""

    trip: str
    booking: BookingId
    stay: StayId
    total_eur: int
