"""Invented flights and hotels, with a price for every day: the same in every process. Pure."""

from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import blake2b

from .values import Flight

CITIES = ("LIS", "NYC", "OSL", "ROM", "VIE")
_EVERY_DAY = range(7)


@dataclass(frozen=True)
class _Route:
    price_eur: int
    departures: tuple[str, ...]
    weekdays: tuple[int, ...] | range = _EVERY_DAY  # 0 is Monday


@dataclass(frozen=True)
class Hotel:
    """A hotel; a night costs a fifth more on Fridays and Saturdays."""

    hotel: str
    name: str
    rooms: int
    night_eur: int

    @property
    def city(self) -> str:
        return self.hotel[:3].upper()

    def price_eur(self, check_in: date, nights: int) -> int:
        """Return the price of a stay."""
        days = nights_of(check_in, nights)
        return sum(self.night_eur * (6 if day.weekday() in (4, 5) else 5) // 5 for day in days)


_ROUTES = {
    ("LIS", "NYC"): _Route(420, ("09:40", "13:10", "21:55")),
    ("LIS", "ROM"): _Route(120, ("06:30", "12:45", "19:20")),
    ("LIS", "VIE"): _Route(160, ("07:15", "18:05")),
    ("NYC", "ROM"): _Route(480, ("17:30", "22:10")),
    ("OSL", "ROM"): _Route(190, ("10:50",), (0, 2, 4)),
    ("OSL", "VIE"): _Route(140, ("08:20", "16:40")),
    ("ROM", "VIE"): _Route(90, ("06:55", "11:25", "20:15")),
}
_PERCENT_OF_WEEKDAY = (100, 92, 88, 100, 120, 110, 125)
HOTELS = {
    one.hotel: one
    for one in (
        Hotel("lis-tiles", "Tiles and Linen", 2, 85),
        Hotel("lis-tram", "Last Tram", 4, 110),
        Hotel("nyc-water", "Water Tower", 3, 190),
        Hotel("nyc-stoop", "The Stoop", 1, 150),
        Hotel("osl-ferry", "Ferry House", 2, 130),
        Hotel("rom-fig", "Under the Fig", 2, 95),
        Hotel("rom-arch", "Seven Arches", 3, 140),
        Hotel("vie-tram", "Ring Tram", 2, 105),
    )
}


def flights_on(origin: str, destination: str, day: date) -> list[Flight]:
    """Return the flights of a day, the cheapest first; an empty list without a route or a departure that day."""
    route = _ROUTES.get((min(origin, destination), max(origin, destination)))
    if route is None or day.weekday() not in route.weekdays:
        return []
    found = []
    for number, departs in enumerate(route.departures, start=1):
        flight = f"{origin}-{destination}-{day:%Y%m%d}-{number}"
        percent = _PERCENT_OF_WEEKDAY[day.weekday()] + _digest(flight)[0] % 30
        price_eur = route.price_eur * percent // 100
        found.append(
            Flight(
                flight=flight,
                origin=origin,
                destination=destination,
                day=day,
                departs=departs,
                price_eur=price_eur,
            )
        )
    return sorted(found, key=lambda one: (one.price_eur, one.departs))


def flight_called(flight: str) -> Flight | None:
    """Return the flight of that id."""
    origin, destination, day, _ = flight.split("-")
    try:
        flights = flights_on(origin, destination, date.fromisoformat(day))
    except ValueError:  # no date of the calendar
        return None
    return next((one for one in flights if one.flight == flight), None)


def seats_of(flight: str) -> int:
    """Return the seats that a flight has for sale: one in eight has none."""
    digest = _digest(flight)
    return 0 if digest[1] % 8 == 0 else 2 + digest[2] % 5


def nights_of(check_in: date, nights: int) -> list[date]:
    """Return the day on which each night of a stay begins."""
    return [check_in + timedelta(days=n) for n in range(nights)]


def _digest(flight: str) -> bytes:
    return blake2b(flight.encode(), digest_size=3).digest()
