"""The three weather tools."""

from typing import Annotated

from pydantic import BaseModel, Field

from antiphon import Alternative, Backoff, RateLimit, Retry, ToolFailed, tool

from .client import Observation, Outlook, ask
from .places import names_like, place_called

City = Annotated[str, Field(min_length=1, max_length=100, description="Name of the city, such as Saltmarsh.")]


class Climate(BaseModel):
    """Averages of thirty years."""

    place: str
    celsius: float = Field(description="Mean temperature of the month asked for, or of the year.")
    month: int | None
    rain_mm_per_year: int


@tool(
    effect="read",
    mode="fan-out-bounded",
    max_concurrency=10,
    rate_limit=RateLimit(calls=50, per_s=1),
    timeout_s=8,
    slow_s=5,
    retry=3,
    backoff=Backoff(strategy="exponential", initial_ms=100, max_ms=2_000),
    alternatives=[Alternative(tool="climate_average", arguments={"city": "place"})],
    open_world=True,
    example={"city": "Saltmarsh"},
)
async def current_weather(city: City) -> Observation:
    """The weather in a city right now: temperature, wind and sky."""
    return await ask("/current", Observation, city=city)


@tool(
    effect="read",
    mode="fan-out-bounded",
    max_concurrency=4,
    timeout_s=8,
    retry=Retry(attempts=2),
    backoff=Backoff(strategy="linear", initial_ms=200, max_ms=1_000),
    cache_ttl_s=600,
    alternatives=[Alternative(tool="climate_average", arguments={"city": "place"})],
    open_world=True,
    example={"city": "Saltmarsh", "days": 3},
)
async def forecast(
    city: City, days: Annotated[int, Field(ge=1, le=7, description="Days to come.")] = 3
) -> Outlook:
    """The weather in a city on the days to come."""
    return await ask("/forecast", Outlook, city=city, days=days)


@tool(
    effect="read",
    deterministic=True,
    cache_ttl_s=86_400,  # the default would be five minutes
    version="1991-2020",  # of the table: results of another version must not be found under this one
    example={"place": "Highmoor", "month": 7},
)
def climate_average(
    place: Annotated[str, Field(min_length=1, max_length=100, description="Name of the place.")],
    month: Annotated[
        int | None, Field(ge=1, le=12, description="1 to 12; the whole year when left out.")
    ] = None,
) -> Climate:
    """Return the average weather in a place in an ordinary year. It says nothing about today."""
    if (found := place_called(place)) is None:
        nearest = ", ".join(f'"{name}"' for name in names_like(place))
        raise ToolFailed(
            "not_found",
            f"There are no averages for {place!r}.",
            f"Call again with one of these if it is meant: {nearest}.",
        )
    celsius = found.celsius[month - 1] if month else round(sum(found.celsius) / 12, 1)
    return Climate(place=found.name, celsius=celsius, month=month, rain_mm_per_year=found.rain_mm)
