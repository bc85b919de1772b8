"""Settings of the reasoning engine: `ANTIPHON_REASONING_ENGINE_<NAME>`."""

from pathlib import Path
from typing import Annotated, Literal

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import Settings
from antiphon_shared.values import Usage
from pydantic import Field
from pydantic_settings import SettingsConfigDict

from reasoning_engine.limits.meters import Limits
from reasoning_engine.prices import Prices, Usd
from reasoning_engine.prompted import ToolStyle
from reasoning_engine.shaped import OutputStyle

Provider = Literal["auto", "anthropic", "offline"]
TokensPerMinute = Annotated[int | None, Field(ge=100, le=1_000_000_000)]

_PROMPT_FILE = "ANTIPHON_REASONING_ENGINE_PROMPT_FILE"
_SUMMARY_ATTEMPTS = 2


class EngineSettings(Settings):
    """The model that replies, the retries and timeouts of its calls, and its prices."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_REASONING_ENGINE_")
    section = "reasoning_engine"

    provider: Provider = Field(
        default="auto",
        description="Provider of the model. auto: chat completions for models named openai:, the Messages API "
        "for others when ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL is set, else the offline model.",
    )
    concurrency: int = Field(
        default=16, ge=1, le=1_000, description="Maximum number of concurrent model calls per process."
    )
    max_attempts: int = Field(
        default=4,
        ge=1,
        le=20,
        description="Maximum number of failed model calls in a round; then its reasoning fails.",
    )
    request_timeout_s: float = Field(
        default=120, ge=0.1, le=3_600, description="Timeout of a model call, in seconds."
    )
    retry_after_max_s: float = Field(
        default=30, ge=0, le=600, description="Maximum seconds to wait for a server's retry-after."
    )
    backoff_initial_s: float = Field(
        default=0.5,
        ge=0.001,
        le=60,
        description="Delay before the first retry of a failed call, in seconds; it doubles with each retry.",
    )
    backoff_max_s: float = Field(
        default=20,
        ge=0.001,
        le=600,
        description="Maximum delay before a retry, in seconds, without jitter and retry-after.",
    )
    max_output_tokens: int = Field(
        default=4_096, ge=16, le=1_000_000, description="Maximum number of tokens of a reply."
    )
    output_style: OutputStyle = Field(
        default="auto",
        description="Method for structured answers. native: the API's structured output; tool: a tool that "
        "takes the answer; auto: native for Claude models that support it and for chat "
        "completions without tools, else tool.",
    )
    tool_style: ToolStyle = Field(
        default="native",
        description="Method for tool calls. native: the API's tool calling; prompted: tools in the prompt and "
        "JSON replies, for models without tool calling (docs/models.md).",
    )
    prompt_file: str = Field(
        default="",
        description="File with the system prompt, used instead of the built-in one. It must keep "
        "the forms of the built-in prompt that replies are parsed by (docs/models.md).",
    )
    summary_model: str = Field(
        default="claude-haiku-5-5",
        min_length=1,
        max_length=200,
        description="Model that summarizes facts when a session's memory exceeds the briefing.",
    )
    summary_timeout_s: float = Field(
        default=30, ge=0.1, le=600, description="Timeout of a summary, in seconds, including one retry."
    )
    summary_concurrency: int = Field(
        default=4,
        ge=1,
        le=1_000,
        description="Maximum number of concurrent summaries; a further one fails immediately, without "
        "waiting.",
    )
    summary_input_usd: Usd = Field(
        default=None, description="Price of a million input tokens of the summary model, in USD."
    )
    summary_output_usd: Usd = Field(
        default=None, description="Price of a million output tokens of the summary model, in USD."
    )
    input_usd: Usd = Field(
        default=None,
        description="Price of a million input tokens of ANTIPHON_MODEL, in USD. Costs are reported only if "
        "all prices are set.",
    )
    output_usd: Usd = Field(default=None, description="Price of a million output tokens, in USD.")
    cache_read_usd: Usd = Field(
        default=None, description="Price of a million tokens read from the prompt cache, in USD."
    )
    cache_write_usd: Usd = Field(
        default=None, description="Price of a million tokens written to the prompt cache, in USD."
    )

    prices: dict[str, Prices] = Field(
        default={},
        description='Prices of models by id: `{"model": {"input_usd": 3, "output_usd": 15}}`, with '
        "`cache_read_usd` and `cache_write_usd` for the prompt cache. They override the prices "
        "above.",
    )
    requests_per_minute: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Maximum number of calls per minute to each model, over all engines; fewer if the server "
        "demands it.",
    )
    tokens_per_minute: TokensPerMinute = Field(
        default=None,
        description="Maximum number of tokens per minute to each model, input and output together, over all "
        "engines.",
    )
    input_tokens_per_minute: TokensPerMinute = Field(
        default=None,
        description="Maximum number of input tokens per minute to each model, over all engines, without "
        "tokens read from the prompt cache.",
    )
    output_tokens_per_minute: TokensPerMinute = Field(
        default=None,
        description="Maximum number of output tokens per minute to each model, over all engines.",
    )
    burst_s: float = Field(
        default=10,
        ge=0,
        le=60,
        description="Burst size of these limits, in seconds: after idle time, the amount for this many "
        "seconds can be used at once.",
    )
    slow_s: float | None = Field(
        default=None,
        gt=0,
        le=3_600,
        description="Seconds after which a reply counts as slow: it is used, but counts as a failure of its "
        "model.",
    )

    def system_prompt(self) -> str | None:
        """Return the operator's own system prompt, or None. Raises ConfigurationError."""
        if not self.prompt_file:
            return None
        try:
            text = Path(self.prompt_file).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{_PROMPT_FILE}: the file cannot be read: {error}.") from None
        if not text:
            raise ConfigurationError(f"{_PROMPT_FILE}: the file is empty.")
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
        """Return the cost of `usage` in US dollars; None if the price of any token in it is not configured."""
        return self.prices_in_force.cost_usd(usage)

    @property
    def prices_in_force(self) -> Prices:
        """Return the prices of the model that the other settings concern."""
        return Prices.trusted(
            input_usd=self.input_usd,
            output_usd=self.output_usd,
            cache_read_usd=self.cache_read_usd,
            cache_write_usd=self.cache_write_usd,
        )

    def for_summaries(self) -> "EngineSettings":
        """Return the settings for the model that summarizes: two attempts, its own time limit and prices."""
        own = Prices(input_usd=self.summary_input_usd, output_usd=self.summary_output_usd)
        limits = {
            "max_attempts": _SUMMARY_ATTEMPTS,
            "request_timeout_s": min(self.request_timeout_s, self.summary_timeout_s),
        }
        return self._priced(self.prices.get(self.summary_model, own)).model_copy(update=limits)

    def priced_for(self, model_id: str, *, is_default: bool) -> "EngineSettings":
        """Return the settings with the prices of a model, as far as they are known."""
        if model_id in self.prices:
            return self._priced(self.prices[model_id])
        return self if is_default else self._priced(Prices())

    def _priced(self, prices: Prices) -> "EngineSettings":
        return self.model_copy(update=dict(prices))
