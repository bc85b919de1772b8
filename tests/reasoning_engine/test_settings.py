"""What the engine's settings say of costs."""

import pytest

from reasoning_engine.settings import EngineSettings
from shared.values import Usage


def test_nothing_costs_nothing_and_unpriced_tokens_cost_one_does_not_know() -> None:
    assert EngineSettings().cost_usd(Usage()) == 0.0
    assert EngineSettings().cost_usd(Usage(input_tokens=1)) is None
    priced = EngineSettings(input_usd=3.0, output_usd=15.0)
    assert priced.cost_usd(Usage(input_tokens=1_000_000, output_tokens=100_000)) == pytest.approx(4.5)
    assert priced.cost_usd(Usage(input_tokens=1, cache_write_tokens=1)) is None
    assert priced.without_prices().cost_usd(Usage(input_tokens=1)) is None
