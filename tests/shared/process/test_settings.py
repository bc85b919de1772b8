"""Settings are refused with the variable's name, and only those that are ours to refuse."""

import os

import pytest
from antiphon_shared.process.environment import load_environment
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import SECTIONS, BusSettings, PipelineSettings, Settings, load
from pydantic import model_validator
from pydantic_settings import SettingsConfigDict


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the environment of settings: the tests may run where a deployment has its own."""
    for variable in [name for name in os.environ if name.startswith("ANTIPHON_")]:
        monkeypatch.delenv(variable)


class PricedSettings(Settings):
    """Settings whose values depend on each other, and one that is a structure."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_REASONING_ENGINE_")
    section = "reasoning_engine"

    low: int = 1
    high: int = 2
    prices: dict[str, float] = {}

    @model_validator(mode="after")
    def _ordered(self) -> "PricedSettings":
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


def test_without_variables_every_setting_has_its_default() -> None:
    settings = load(PipelineSettings)
    assert (settings.namespace, settings.partitions, settings.redis_url) == ("antiphon", 1, None)
    assert load(BusSettings) == BusSettings()


def test_variables_are_read_and_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_PARTITIONS", "8")
    monkeypatch.setenv("ANTIPHON_BUS_LEASE_S", "7.5")
    assert load(PipelineSettings).partitions == 8
    assert load(BusSettings).lease_s == 7.5


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_PARTITIONS", "")
    assert load(PipelineSettings).partitions == 1


@pytest.mark.parametrize(
    ("kind", "variable"),
    [
        (PipelineSettings, "ANTIPHON_REDIS"),
        (PipelineSettings, "ANTIPHON_CORDINATOR_MAX_ROUNDS"),
        (PipelineSettings, "ANTIPHON_"),
        (BusSettings, "ANTIPHON_BUS_LEASE"),
        (BusSettings, "ANTIPHON_BUS_LEASE_S_MAX"),
    ],
)
def test_an_unknown_variable_is_refused_by_name(
    kind: type[Settings], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    with pytest.raises(ConfigurationError, match=f"{variable} is not a setting. .*antiphon settings"):
        load(kind)


def test_the_variable_that_was_meant_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_MODLE", "x")
    with pytest.raises(
        ConfigurationError, match=r"ANTIPHON_MODLE is not a setting. Did you mean ANTIPHON_MODEL\?"
    ):
        load(PipelineSettings)


@pytest.mark.parametrize("section", SECTIONS)
def test_another_sections_variables_are_ignored(section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"ANTIPHON_{section.upper()}_UNHEARD_OF", "1")
    load(PipelineSettings)
    if section != "bus":
        load(BusSettings)


def test_foreign_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHONAL_CHOIRS", "2")
    monkeypatch.setenv("PARTITIONS", "2")
    assert load(PipelineSettings).partitions == 1


@pytest.mark.parametrize(
    ("kind", "variable", "value"),
    [
        (PipelineSettings, "ANTIPHON_PARTITIONS", "0"),
        (PipelineSettings, "ANTIPHON_PARTITIONS", "1025"),
        (PipelineSettings, "ANTIPHON_PARTITIONS", "two"),
        (PipelineSettings, "ANTIPHON_PARTITIONS", "1.5"),
        (PipelineSettings, "ANTIPHON_NAMESPACE", "a:b"),
        (PipelineSettings, "ANTIPHON_NAMESPACE", "{0}"),
        (PipelineSettings, "ANTIPHON_NAMESPACE", "n" * 65),
        (PipelineSettings, "ANTIPHON_LOG_LEVEL", "loud"),
        (PipelineSettings, "ANTIPHON_MODEL", "\udcff"),
        (BusSettings, "ANTIPHON_BUS_LEASE_S", "0"),
        (BusSettings, "ANTIPHON_BUS_LEASE_S", "nan"),
        (BusSettings, "ANTIPHON_BUS_LEASE_S", "inf"),
        (BusSettings, "ANTIPHON_BUS_LEASE_S", "20 s"),
        (BusSettings, "ANTIPHON_BUS_MAX_DELIVERIES", "1"),
        (BusSettings, "ANTIPHON_BUS_MAX_EVENT_BYTES", "9" * 5000),
        (PricedSettings, "ANTIPHON_REASONING_ENGINE_PRICES", "[1]"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(
    kind: type[Settings], variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=f"{variable}: .*antiphon settings"):
        load(kind)


def test_every_fault_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_PARTITIONS", "0")
    monkeypatch.setenv("ANTIPHON_LOG_LEVEL", "loud")
    with pytest.raises(ConfigurationError, match=r"ANTIPHON_PARTITIONS: .*ANTIPHON_LOG_LEVEL: "):
        load(PipelineSettings)


def test_a_structure_that_is_not_json_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_REASONING_ENGINE_PRICES", "{cheap")
    with pytest.raises(ConfigurationError, match=r"ANTIPHON_REASONING_ENGINE_PRICES: not JSON"):
        load(PricedSettings)


def test_values_that_do_not_go_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_REASONING_ENGINE_LOW", "3")
    with pytest.raises(ConfigurationError, match=r"ANTIPHON_REASONING_ENGINE_\*: .*low is above high"):
        load(PricedSettings)


def test_the_address_of_redis_is_kept_out_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hold a password."""
    monkeypatch.setenv("ANTIPHON_REDIS_URL", "redis://:sesame@localhost")
    assert "sesame" not in repr(load(PipelineSettings))


def test_an_empty_foreign_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    assert load_environment("ANTHROPIC_API_KEY") is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert load_environment("ANTHROPIC_API_KEY") == "k"
