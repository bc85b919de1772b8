"""Settings out of range are refused by name."""

import pytest

from reasoning_engine.settings import EngineSettings
from shared.errors import ConfigurationError
from shared.settings import load
from shared.values import Usage


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PROVIDER", "openai"),
        ("CONCURRENCY", "0"),
        ("MAX_ATTEMPTS", "many"),
        ("REQUEST_TIMEOUT_S", "0"),
        ("REQUEST_TIMEOUT_S", "nan"),
        ("RETRY_AFTER_MAX_S", "-1"),
        ("BACKOFF_INITIAL_S", "inf"),
        ("MAX_OUTPUT_TOKENS", "15"),
        ("INPUT_USD", "-0.01"),
        ("MAX_OUTPUT_TOKEN", "1000"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = f"ANTIPHON_REASONING_ENGINE_{name}"
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=variable):
        load(EngineSettings)


def test_nothing_costs_nothing_and_unpriced_tokens_cost_one_does_not_know() -> None:
    assert EngineSettings().cost_usd(Usage()) == 0.0
    assert EngineSettings().cost_usd(Usage(input_tokens=1)) is None
    priced = EngineSettings(input_usd=3.0, output_usd=15.0)
    assert priced.cost_usd(Usage(input_tokens=1_000_000, output_tokens=100_000)) == pytest.approx(4.5)
    assert priced.cost_usd(Usage(input_tokens=1, cache_write_tokens=1)) is None
    assert priced.without_prices().cost_usd(Usage(input_tokens=1)) is None
