"""The costs by the engine's settings."""

import pytest
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import load
from antiphon_shared.values import Usage

from reasoning_engine.prices import Prices
from reasoning_engine.settings import EngineSettings


def test_no_usage_costs_nothing_and_unpriced_tokens_have_an_unknown_cost() -> None:
    assert EngineSettings().cost_usd(Usage()) == 0.0
    assert EngineSettings().cost_usd(Usage(input_tokens=1)) is None
    priced = EngineSettings(input_usd=3.0, output_usd=15.0)
    assert priced.cost_usd(Usage(input_tokens=1_000_000, output_tokens=100_000)) == pytest.approx(4.5)
    assert priced.cost_usd(Usage(input_tokens=1, cache_write_tokens=1)) is None
    assert priced.priced_for("another", is_default=False).cost_usd(Usage(input_tokens=1)) is None


class TestThePricesOfSeveralModels:
    PRICED = EngineSettings(
        input_usd=3.0,
        summary_input_usd=2.0,
        prices={"cheap": Prices(input_usd=1.0), "claude-haiku-5-5": Prices(input_usd=0.5)},
    )
    MILLION = Usage(input_tokens=1_000_000)

    @pytest.mark.parametrize(
        ("model", "is_default", "cost_usd"),
        [("main", True, 3.0), ("cheap", False, 1.0), ("cheap", True, 1.0), ("another", False, None)],
    )
    def test_the_cost_of_a_model_uses_its_own_prices(
        self, model: str, is_default: bool, cost_usd: float | None
    ) -> None:
        assert self.PRICED.priced_for(model, is_default=is_default).cost_usd(self.MILLION) == cost_usd

    def test_the_cost_of_a_summary_uses_the_prices_of_its_model(self) -> None:
        assert self.PRICED.for_summaries().cost_usd(self.MILLION) == 0.5
        assert self.PRICED.model_copy(update={"prices": {}}).for_summaries().cost_usd(self.MILLION) == 2.0

    def test_the_prices_are_one_json_setting(self, monkeypatch: pytest.MonkeyPatch) -> None:
        variable = "ANTIPHON_REASONING_ENGINE_PRICES"
        monkeypatch.setenv(variable, '{"cheap": {"input_usd": 1, "output_usd": 5}}')
        assert load(EngineSettings).prices == {"cheap": Prices(input_usd=1, output_usd=5)}
        for wrong in ("cheap", '{"cheap": {"input": 1}}', '{"cheap": {"input_usd": -1}}', "[]"):
            monkeypatch.setenv(variable, wrong)
            with pytest.raises(ConfigurationError, match="ANTIPHON_REASONING_ENGINE_"):
                load(EngineSettings)
