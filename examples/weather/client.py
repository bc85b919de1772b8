"""Requests to the weather service: each returns one value, or one error in words for the model."""

from functools import cache
from ssl import SSLContext
from typing import TypeVar

import httpx2
from pydantic import BaseModel, Field, HttpUrl, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from antiphon import ToolFailed

_TIMEOUT = httpx2.Timeout(5.0, connect=2.0)

ModelT = TypeVar("ModelT", bound=BaseModel)


class WeatherSettings(BaseSettings):
    """Settings of the example, from the environment as `WEATHER_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="WEATHER_", env_ignore_empty=True)

    url: HttpUrl = HttpUrl("http://127.0.0.1:8765")


class Observation(BaseModel):
    """The weather of one place, now."""

    city: str
    celsius: float
    wind_km_h: float
    sky: str


class Day(BaseModel):
    day: int = Field(description="1 is tomorrow.")
    celsius: float
    sky: str


class Outlook(BaseModel):
    """The weather of one place on the days to come."""

    city: str
    days: list[Day]


class _Refusal(BaseModel):
    error: str = "It gave no reason."
    nearest: list[str] = []


async def ask(path: str, kind: type[ModelT], **query: str | int) -> ModelT:
    """Return the service's answer. Raises ToolFailed, with words for the model."""
    try:
        async with httpx2.AsyncClient(base_url=_address(), timeout=_TIMEOUT, verify=_trusted()) as client:
            response = await client.get(path, params=query)
    except httpx2.TimeoutException:
        raise ToolFailed("timeout", "The weather service did not answer in time.") from None
    except httpx2.RequestError as error:
        raise ToolFailed(
            "api_failure", f"The weather service cannot be reached ({type(error).__name__})."
        ) from None
    if response.status_code != 200:
        raise _refused(response)
    try:
        return kind.model_validate_json(response.content)
    except ValidationError:
        raise ToolFailed("api_failure", "The weather service answered with what is no weather.") from None


def _address() -> str:
    try:
        return str(WeatherSettings().url)
    except ValidationError:
        raise ToolFailed(
            "internal_error", "The weather service has no address: WEATHER_URL is none."
        ) from None


@cache
def _trusted() -> SSLContext:
    """Return the trusted certificates, read once: that takes longer than a request."""
    return httpx2.create_ssl_context()


def _refused(response: httpx2.Response) -> ToolFailed:
    try:
        refusal = _Refusal.model_validate_json(response.content)
    except ValidationError:
        refusal = _Refusal()
    match response.status_code:
        case 404:
            nearest = ", ".join(f'"{name}"' for name in refusal.nearest[:10])
            action = f"Call again with one of these if it is meant: {nearest}." if nearest else None
            return ToolFailed("not_found", refusal.error, action)
        case 429:
            return ToolFailed(
                "rate_limit",
                "The weather service takes no more requests for now.",
                retry_after_s=_seconds(response.headers.get("retry-after", "")),
            )
        case status:
            return ToolFailed(
                "api_failure", f"The weather service failed with status {status}: {refusal.error}"
            )


def _seconds(retry_after: str) -> float | None:
    """Return the header in seconds; None for its other form, a date."""
    try:
        return float(retry_after)
    except ValueError:
        return None
