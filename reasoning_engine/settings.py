"""Settings of the reasoning engine: `ANTIPHON_REASONING_ENGINE_<NAME>`."""

from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from shared.settings import Settings
from shared.values import Usage

Provider = Literal["auto", "anthropic", "offline"]

_TOKENS_PER_PRICE = 1_000_000
_SUMMARY_ATTEMPTS = 2


class EngineSettings(Settings):
    """Which model replies, how patiently it is asked, and what it costs."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_REASONING_ENGINE_")
    section = "reasoning_engine"

    provider: Provider = Field(
        default="auto",
        description="Who replies; auto: the Messages API when ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL is "
        "set, else the offline model.",
    )
    concurrency: int = Field(default=16, ge=1, le=1_000, description="Calls to the model at once.")
    max_attempts: int = Field(
        default=4, ge=1, le=20, description="Failed calls to the model before a round's reasoning has failed."
    )
    request_timeout_s: float = Field(
        default=120, ge=0.1, le=3_600, description="Seconds one call to the model may take."
    )
    retry_after_max_s: float = Field(
        default=30, ge=0, le=600, description="Seconds a server's retry-after is waited for at most."
    )
    backoff_initial_s: float = Field(
        default=0.5, ge=0.001, le=60, description="Delay before a failed call is repeated; doubles each time."
    )
    backoff_max_s: float = Field(
        default=20, ge=0.001, le=600, description="Longest such delay, jitter and retry-after aside."
    )
    max_output_tokens: int = Field(
        default=4_096, ge=16, le=1_000_000, description="Tokens of one reply at most."
    )
    summary_model: str = Field(
        default="claude-haiku-5-5",
        min_length=1,
        max_length=200,
        description="Model that puts facts into fewer words where a session's memory outgrows the briefing.",
    )
    summary_timeout_s: float = Field(
        default=30, ge=0.1, le=600, description="Seconds a summary may take, one retry included."
    )
    summary_concurrency: int = Field(
        default=4, ge=1, le=1_000, description="Summaries at once; one more fails at once, and nothing waits."
    )
    summary_input_usd: float | None = Field(
        default=None, ge=0, le=1e6, description="Price of a million input tokens of the summaries' model."
    )
    summary_output_usd: float | None = Field(
        default=None, ge=0, le=1e6, description="Price of a million output tokens of the summaries' model."
    )
    input_usd: float | None = Field(
        default=None,
        ge=0,
        le=1e6,
        description="Price of a million input tokens of ANTIPHON_MODEL. A cost is told when every price that "
        "it takes is set.",
    )
    output_usd: float | None = Field(
        default=None, ge=0, le=1e6, description="Price of a million output tokens."
    )
    cache_read_usd: float | None = Field(
        default=None, ge=0, le=1e6, description="Price of a million tokens read from the prompt cache."
    )
    cache_write_usd: float | None = Field(
        default=None, ge=0, le=1e6, description="Price of a million tokens written to the prompt cache."
    )

    def cost_usd(self, usage: Usage) -> float | None:
        """What `usage` costs; None when the price of any token in it is not configured."""
        cost = 0.0
        for tokens, price in (
            (usage.input_tokens, self.input_usd),
            (usage.output_tokens, self.output_usd),
            (usage.cache_read_tokens, self.cache_read_usd),
            (usage.cache_write_tokens, self.cache_write_usd),
        ):
            if tokens and price is None:
                return None
            cost += tokens * (price or 0.0) / _TOKENS_PER_PRICE
        return cost

    def for_summaries(self) -> "EngineSettings":
        """The same for the model that summarizes: two attempts, within its time and at its own prices."""
        own = {
            "max_attempts": _SUMMARY_ATTEMPTS,
            "request_timeout_s": min(self.request_timeout_s, self.summary_timeout_s),
            "input_usd": self.summary_input_usd,
            "output_usd": self.summary_output_usd,
        }
        return self.without_prices().model_copy(update=own)

    def without_prices(self) -> "EngineSettings":
        """The same for a model whose prices are not known."""
        return self.model_copy(update=dict.fromkeys(_PRICES))


_PRICES = ("input_usd", "output_usd", "cache_read_usd", "cache_write_usd")
