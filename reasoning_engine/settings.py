"""Settings of the reasoning engine: `ANTIPHON_REASONING_ENGINE_<NAME>`."""

from pathlib import Path
from typing import Literal

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import Settings
from antiphon_shared.values import Usage
from pydantic import Field
from pydantic_settings import SettingsConfigDict

from reasoning_engine.limits.meters import Limits
from reasoning_engine.prices import Prices
from reasoning_engine.prompted import ToolStyle
from reasoning_engine.shaped import OutputStyle

Provider = Literal["auto", "anthropic", "offline"]

_PROMPT_FILE = "ANTIPHON_REASONING_ENGINE_PROMPT_FILE"
_SUMMARY_ATTEMPTS = 2


class EngineSettings(Settings):
    """The model that replies, the retries and timeouts of its calls, and its prices."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_REASONING_ENGINE_")
    section = "reasoning_engine"

    provider: Provider = Field(
        default="auto",
        description="Who replies; auto: models named openai: by chat completions, others by the Messages API when "
        "ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL is set, else the offline model.",
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
    output_style: OutputStyle = Field(
        default="auto",
        description="How a model is asked for an answer of a shape: native, by the API's own means; tool, by "
        "a tool that takes the answer; auto: native for Claude models that have it, and in chat completions without "
        "tools; else tool.",
    )
    tool_style: ToolStyle = Field(
        default="native",
        description="How a model is offered tools: native, by the API's own means; prompted, in the prompt, with one "
        "form of JSON for calls and answers, for models without tool calling (docs/models.md).",
    )
    prompt_file: str = Field(
        default="",
        description="File whose text is the system prompt, in place of the one that comes along. It has to tell the "
        "model all that reasoning_engine/prompt.py tells it: replies are read by that.",
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

    prices: dict[str, Prices] = Field(
        default={},
        description='Prices of any model, by its id: `{"model": {"input_usd": 3, "output_usd": 15}}`, the '
        "prompt cache's as `cache_read_usd` and `cache_write_usd`. What is set here goes before the prices above.",
    )
    requests_per_minute: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Calls to any one model in a minute, of all engines together; less when its server says so.",
    )
    tokens_per_minute: int | None = Field(
        default=None, ge=100, le=1_000_000_000, description="Tokens in and out, likewise."
    )
    input_tokens_per_minute: int | None = Field(
        default=None,
        ge=100,
        le=1_000_000_000,
        description="Tokens in, likewise; those read from the prompt cache do not count.",
    )
    output_tokens_per_minute: int | None = Field(
        default=None, ge=100, le=1_000_000_000, description="Tokens out, likewise."
    )
    burst_s: float = Field(
        default=10,
        ge=0,
        le=60,
        description="Seconds' worth of those limits that may be used at once after a rest.",
    )
    slow_s: float | None = Field(
        default=None,
        gt=0,
        le=3_600,
        description="A reply that takes longer counts as a failure of its model, although it is used.",
    )

    def system_prompt(self) -> str | None:
        """Return the operator's own system prompt; None where there is none. Raises ConfigurationError."""
        if not self.prompt_file:
            return None
        try:
            text = Path(self.prompt_file).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{_PROMPT_FILE}: the file cannot be read: {error}.") from None
        if not text:
            raise ConfigurationError(f"{_PROMPT_FILE}: the file has no text.")
        return text

    @property
    def limits(self) -> Limits:
        """Return the limits of each model per minute."""
        return Limits(
            requests=self.requests_per_minute or 0,
            tokens=self.tokens_per_minute or 0,
            input_tokens=self.input_tokens_per_minute or 0,
            output_tokens=self.output_tokens_per_minute or 0,
            burst_s=self.burst_s,
        )

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the cost of `usage` in US dollars; None when the price of any token in it is not configured."""
        return self.prices_in_force.cost_usd(usage)

    @property
    def prices_in_force(self) -> Prices:
        """Return the prices of the model that the other settings concern."""
        return Prices.model_construct(**{name: getattr(self, name) for name in Prices.model_fields})

    def for_summaries(self) -> "EngineSettings":
        """Return the settings for the model that summarizes: two attempts, its own time limit and prices."""
        patience = {
            "max_attempts": _SUMMARY_ATTEMPTS,
            "request_timeout_s": min(self.request_timeout_s, self.summary_timeout_s),
        }
        own = Prices(input_usd=self.summary_input_usd, output_usd=self.summary_output_usd)
        priced = self._priced(self.prices.get(self.summary_model, own))
        return priced.model_copy(update=patience)

    def priced_for(self, model_id: str, *, is_default: bool) -> "EngineSettings":
        """Return the settings with the prices of a model, as far as they are known."""
        if model_id in self.prices:
            return self._priced(self.prices[model_id])
        return self if is_default else self._priced(Prices())

    def _priced(self, prices: Prices) -> "EngineSettings":
        return self.model_copy(update=dict(prices))
