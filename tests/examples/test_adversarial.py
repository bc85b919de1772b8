"""Every example tool gets hostile arguments, for real: writes too, against services of the test's own."""

import pkgutil
from collections.abc import Iterator

import pytest

import examples
from examples.local_http import serving
from examples.weather.service import WeatherService
from examples.webhooks.receiver import Receiver
from tool_dispatcher.catalogue import load_tools
from tool_dispatcher.check.run import Options, check_tool

SECRET = "correct-horse-battery-staple"
MODULES = [f"examples.{module.name}" for module in pkgutil.iter_modules(examples.__path__) if module.ispkg]
TOOLS = [(module, name) for module in MODULES for name in load_tools(module)]


@pytest.fixture(autouse=True)
def _services(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the examples read and write only inside this test."""
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    with serving(WeatherService().reply) as weather, serving(Receiver(SECRET).reply) as receiver:
        monkeypatch.setenv("WEATHER_URL", weather)
        monkeypatch.setenv("WEBHOOK_URLS", f"{receiver}/events")
        yield


@pytest.mark.parametrize(("module", "name"), TOOLS)
async def test_every_case_ends_in_data_or_an_error_that_helps(module: str, name: str) -> None:
    options = Options(runs_writes=True, examples_max=20, secrets=(SECRET,), run_s_max=600)
    report = await check_tool(load_tools(module)[name], options)
    assert [(one.label, one.model_view, one.faults) for one in report.failed] == []
    assert report.notes == ()
    assert report.count("refused") > 0
    assert report.count("ran") > 0
    assert report.count("accepted") == 0


def test_all_examples_are_here() -> None:
    assert {"assembly", "courses", "crm", "documents", "travel", "weather", "webhooks"} <= {
        module.removeprefix("examples.") for module in MODULES
    }
