"""The invented places with weather, and their averages of thirty years."""

from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Place:
    """A place: the mean temperature of each month, January first, and the rain of a year."""

    name: str
    celsius: tuple[float, ...]
    rain_mm: int


PLACES = (
    Place("Saltmarsh", (3.9, 4.1, 5.8, 8.4, 11.9, 14.8, 17.0, 17.1, 14.6, 11.0, 7.1, 4.8), 720),
    Place("Highmoor", (-4.2, -3.6, -0.5, 3.8, 8.9, 12.4, 14.6, 14.1, 10.3, 5.9, 0.4, -3.1), 1480),
    Place("Port Ambrose", (9.8, 10.2, 12.1, 14.6, 18.3, 22.4, 25.1, 25.3, 22.0, 17.9, 13.6, 10.8), 540),
    Place("Cinder Flats", (11.5, 13.8, 18.0, 22.7, 27.9, 32.6, 34.8, 33.9, 30.1, 23.8, 16.5, 11.9), 110),
    Place("Lower Fenwick", (2.8, 3.0, 5.5, 8.7, 12.6, 15.9, 17.8, 17.5, 14.4, 10.4, 6.1, 3.5), 660),
    Place("Windle Bay", (6.1, 6.0, 7.2, 9.1, 11.8, 14.2, 16.0, 16.2, 14.5, 11.8, 8.8, 7.0), 1120),
    Place("Tarn Hollow", (-1.4, -0.9, 2.2, 6.3, 11.0, 14.5, 16.6, 16.0, 12.5, 8.1, 2.9, -0.4), 980),
    Place("Quarry Mouth", (5.2, 5.6, 7.8, 10.4, 14.0, 17.2, 19.1, 18.9, 16.0, 12.2, 8.3, 6.0), 840),
    Place("Fenland Cross", (3.4, 3.8, 6.4, 9.3, 13.1, 16.3, 18.6, 18.2, 15.1, 10.9, 6.6, 4.1), 610),
    Place("Orchard Reach", (4.6, 5.3, 8.1, 11.2, 15.4, 18.9, 21.3, 21.0, 17.4, 12.9, 8.0, 5.2), 590),
)
_BY_NAME = {place.name.casefold(): place for place in PLACES}


def place_called(name: str) -> Place | None:
    return _BY_NAME.get(name.strip().casefold())


def names_like(name: str) -> list[str]:
    """Return the nearest names; every name when none is near."""
    near = get_close_matches(name.strip().casefold(), _BY_NAME, n=3)
    return [_BY_NAME[one].name for one in near] or [place.name for place in PLACES]
