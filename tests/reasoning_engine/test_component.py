"""The room as it is wired."""

import pytest
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ReasoningRequested, SummaryRequested
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import BusSettings

from reasoning_engine.component import build
from tests.reasoning_engine.test_handlers import StubModel


@pytest.fixture
def unopened(monkeypatch: pytest.MonkeyPatch) -> Bus:
    for variable in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    return Bus(Connections("redis://127.0.0.1:1/0"), Keys("t", 1), BusSettings())


async def test_the_component_handles_requests_with_the_model_of_the_environment(unopened: Bus) -> None:
    service = build(unopened)
    assert (service.name, set(service.handlers)) == (
        "reasoning_engine",
        {ReasoningRequested, SummaryRequested},
    )
    assert service.close is not None
    await service.close()


async def test_a_model_that_is_asked_over_the_network_has_breakers_that_are_kept_fresh(
    unopened: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert build(unopened).background == (), "the offline model needs none"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    service = build(unopened)
    assert len(service.background) == 1
    assert service.close is not None
    await service.close()


def test_a_model_that_is_given_stays_its_owners(unopened: Bus) -> None:
    assert build(unopened, StubModel()).close is None


def test_a_provider_without_access_is_refused_at_the_start(
    unopened: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTIPHON_REASONING_ENGINE_PROVIDER", "anthropic")
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        build(unopened)
