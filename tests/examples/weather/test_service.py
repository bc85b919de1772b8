"""The service follows its instructions for their time, and counts its requests."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from examples.local_http import Reply, Request, serving
from examples.weather.service import Control, WeatherService
from tests.examples.processes import ended, first_line, running
from tests.tool_dispatcher.builders import until


def current(city: str = "Saltmarsh") -> Request:
    return Request("GET", "/current", {"city": city})


def control(**fields: Any) -> Request:
    return Request("POST", "/control", body=json.dumps(fields).encode())


def test_the_weather_of_a_place_is_deterministic() -> None:
    first, second = (WeatherService().reply(current()) for _ in range(2))
    assert first == second
    assert first.status == 200
    assert first.body["city"] == "Saltmarsh"


def test_a_forecast_has_the_requested_number_of_days() -> None:
    reply = WeatherService().reply(Request("GET", "/forecast", {"city": "highmoor", "days": "5"}))
    assert [day["day"] for day in reply.body["days"]] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("days", ["0", "8", "-1", "two"])
def test_a_forecast_for_no_number_of_days_is_refused(days: str) -> None:
    assert (
        WeatherService().reply(Request("GET", "/forecast", {"city": "Highmoor", "days": days})).status == 400
    )


def test_an_unknown_place_is_not_found_with_the_nearest_suggested() -> None:
    reply = WeatherService().reply(current("Saltmarch"))
    assert (reply.status, reply.body["nearest"]) == (404, ["Saltmarsh"])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("ok", 200), ("fail", 503), ("limit", 429)],
)
def test_the_service_behaves_as_configured_until_configured_otherwise(mode: str, expected: int) -> None:
    service = WeatherService()
    assert service.reply(control(mode=mode)).status == 200
    assert [service.reply(current()).status for _ in range(3)] == [expected] * 3
    service.reply(control(mode="ok"))
    assert service.reply(current()).status == 200


def test_a_count_holds_for_that_many_requests() -> None:
    service = WeatherService()
    service.reply(control(mode="limit", count=2, retry_after_s=7))
    replies = [service.reply(current()) for _ in range(3)]
    assert [reply.status for reply in replies] == [429, 429, 200]
    assert replies[0].headers == {"retry-after": "7"}
    assert service.reply(Request("GET", "/ledger")) == Reply(
        200, {"requests": 3, "refused": 2, "under_way": 0, "under_way_max": 1}
    )


@pytest.mark.parametrize("fields", [{"mode": "sulk"}, {"mode": "fail", "count": 0}, {"mod": "fail"}])
def test_an_invalid_configuration_is_refused_and_changes_nothing(fields: dict[str, Any]) -> None:
    service = WeatherService()
    assert service.reply(control(**fields)).status == 400
    assert service.reply(current()).status == 200


async def test_the_ledger_counts_concurrent_requests_and_a_new_mode_releases_them() -> None:
    service = WeatherService()
    service.control(Control(mode="stall", stall_s=600))
    with serving(service.reply) as url, ThreadPoolExecutor(5) as pool:
        waiting = [pool.submit(httpx2.get, f"{url}/current?city=Saltmarsh", timeout=60) for _ in range(5)]
        await until(lambda: service.ledger["under_way"] == 5)
        assert httpx2.post(f"{url}/control", json={}, timeout=60).status_code == 200
        assert [future.result().status_code for future in waiting] == [200] * 5
    assert service.ledger == {"requests": 5, "refused": 0, "under_way": 0, "under_way_max": 5}


def test_the_service_process_prints_its_address_serves_and_ends_on_request() -> None:
    with running("-m", "examples.weather.service", "--port", "0") as process:
        url = first_line(process)
        assert httpx2.get(f"{url}/current?city=Saltmarsh", timeout=60).json()["city"] == "Saltmarsh"
        assert httpx2.post(f"{url}/control", json={"mode": "fail", "count": 1}, timeout=60).status_code == 200
        assert httpx2.get(f"{url}/current?city=Saltmarsh", timeout=60).status_code == 503
        assert ended(process) == 0
