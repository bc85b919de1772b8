"""For any behaviour of the service, the model gets the weather or an actionable error."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from antiphon_shared.events import ToolsRequested
from antiphon_shared.tools.calls import ToolError

from examples.local_http import Reply, Request, serving
from examples.weather import client, climate_average, current_weather, forecast
from examples.weather.places import PLACES
from examples.weather.service import Control, WeatherService
from tests.tool_dispatcher.builders import a_call, a_dispatcher, a_request, until
from tool_dispatcher.authoring.tool import ToolFailed
from tool_dispatcher.authoring.validate import validate
from tool_dispatcher.running.substitution import mapped


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[WeatherService]:
    served = WeatherService()
    with serving(served.reply) as url:
        monkeypatch.setenv("WEATHER_URL", url)
        yield served


async def failure(awaited: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await awaited
    return failed.value


async def test_the_current_weather_equals_the_reply_of_the_service(service: WeatherService) -> None:
    observed = await current_weather("saltmarsh")
    expected = service.reply(Request("GET", "/current", {"city": "Saltmarsh"})).body
    assert observed.model_dump() == expected


async def test_a_forecast_has_the_requested_number_of_days_or_three(service: WeatherService) -> None:
    assert [day.day for day in (await forecast("Highmoor", 4)).days] == [1, 2, 3, 4]
    assert len((await forecast("Highmoor")).days) == 3


@pytest.mark.usefixtures("service")
async def test_a_place_without_weather_is_not_found_and_the_nearest_is_suggested() -> None:
    failed = await failure(current_weather("Saltmarch & Co?"))
    assert failed.error_type == "not_found"
    assert "'Saltmarch & Co?'" in failed.message
    assert "Saltmarsh" in (failed.suggested_action or "")


async def test_a_service_that_fails_is_an_api_failure(service: WeatherService) -> None:
    service.control(Control(mode="fail"))
    failed = await failure(current_weather("Saltmarsh"))
    assert failed.error_type == "api_failure"
    assert (
        failed.message == "The weather service failed with status 503: The weather service is out of order."
    )


async def test_a_rate_limited_service_reports_the_retry_delay(service: WeatherService) -> None:
    service.control(Control(mode="limit", retry_after_s=12))
    failed = await failure(forecast("Saltmarsh"))
    assert (failed.error_type, failed.retry_after_s) == ("rate_limit", 12)


async def test_a_service_that_stalls_is_given_up(
    service: WeatherService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_TIMEOUT", httpx2.Timeout(60, read=0.2))
    service.control(Control(mode="stall", stall_s=600))
    assert (await failure(current_weather("Saltmarsh"))).error_type == "timeout"


async def test_an_unreachable_service_is_an_api_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda _: Reply(200, None)) as url:
        monkeypatch.setenv("WEATHER_URL", url)
    failed = await failure(current_weather("Saltmarsh"))
    assert failed.error_type == "api_failure"
    assert failed.message == "The weather service cannot be reached (ConnectError)."


@pytest.mark.parametrize(
    ("reply", "error_type"),
    [
        (Reply(200, {"city": "Saltmarsh"}), "api_failure"),
        (Reply(200, "sunny"), "api_failure"),
        (Reply(302, None, {"location": "http://elsewhere.example/"}), "api_failure"),
        (Reply(404, "no"), "not_found"),
        (Reply(429, None, {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}), "rate_limit"),
    ],
)
async def test_an_unusable_answer_is_reported_by_its_kind(
    reply: Reply, error_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda _: reply) as url:
        monkeypatch.setenv("WEATHER_URL", url)
        failed = await failure(current_weather("Saltmarsh"))
    assert (failed.error_type, failed.retry_after_s) == (error_type, None)


async def test_an_invalid_address_is_reported_with_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEATHER_URL", "user:password@host")
    failed = await failure(current_weather("Saltmarsh"))
    assert failed.message == "The weather service has no address: WEATHER_URL is none."


async def test_several_cities_are_requested_concurrently(service: WeatherService) -> None:
    service.control(Control(mode="stall", stall_s=600))
    asked = [asyncio.create_task(current_weather(city)) for city in ("Saltmarsh", "Highmoor", "Windle Bay")]
    await until(lambda: service.ledger["under_way"] == 3)
    service.control(Control())
    assert [(await one).city for one in asked] == ["Saltmarsh", "Highmoor", "Windle Bay"]


def test_averages_come_from_the_table() -> None:
    assert climate_average("highmoor", 7).celsius == 14.6
    year = climate_average("Highmoor")
    assert (year.place, year.month, year.celsius) == ("Highmoor", None, 4.9)


def test_averages_of_an_unlisted_place_are_not_found() -> None:
    with pytest.raises(ToolFailed, match="Hihgmoor") as failed:
        climate_average("Hihgmoor")
    assert '"Highmoor"' in (failed.value.suggested_action or "")


@pytest.mark.parametrize("tool", [current_weather, forecast])
def test_the_averages_accept_the_mapped_arguments_of_the_service(tool: Any) -> None:
    (alternative,) = tool.contract.alternatives
    assert alternative.tool == climate_average.name
    arguments = mapped(alternative, tool.example)
    assert not isinstance(validate(climate_average, arguments), ToolError)
    assert arguments == {"place": "Saltmarsh"}


CITIES = tuple(place.name for place in PLACES)


def asking_for_all(round: int = 1) -> ToolsRequested:
    calls = (a_call(f"c{n}", "current_weather", arguments={"city": city}) for n, city in enumerate(CITIES))
    return a_request(*calls, allowed=("current_weather", "climate_average"), round=round)


async def test_ten_cities_are_requested_concurrently(service: WeatherService) -> None:
    assert len(CITIES) == 10
    service.control(Control(mode="stall", stall_s=600))
    async with a_dispatcher(current_weather, climate_average) as dispatcher:
        asked = asyncio.create_task(dispatcher.run(asking_for_all()))
        await until(lambda: service.ledger["under_way"] == 10)
        service.control(Control())
        results = await asked
    assert [result.data["city"] for result in results] == list(CITIES)


async def test_two_cities_that_time_out_leave_the_eight_others(
    service: WeatherService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_TIMEOUT", httpx2.Timeout(60, read=0.5))
    lost = CITIES[:2]
    service.control(Control(mode="stall", stall_s=600, cities=lost))
    async with a_dispatcher(current_weather, climate_average) as dispatcher:
        results = await dispatcher.run(asking_for_all())
        assert [result.status for result in results] == ["ok"] * 10
        assert [result.substitute for result in results] == ["climate_average"] * 2 + [""] * 8
        assert all("timeout" in result.substitute_because for result in results[:2])
        assert [result.data["city"] for result in results[2:]] == list(CITIES[2:])

        service.control(Control())
        again = await dispatcher.run(asking_for_all(round=2))
    assert [result.substitute for result in again] == [""] * 10, "its circuit is closed"
