"""The units that are limited per minute, and the expected usage of a call. Pure."""

from dataclasses import dataclass
from typing import Literal

from antiphon_shared.values import Usage

Meter = Literal["requests", "tokens", "input_tokens", "output_tokens"]
METERS: tuple[Meter, ...] = ("requests", "tokens", "input_tokens", "output_tokens")
"""The order in which the scripts count them."""

_NEWEST_WEIGHT = 0.2
_OUTPUT_AT_FIRST = 500.0
_SHARE_MAX = 4.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits per minute from the settings, for each model alike; 0: as the server reports."""

    requests: int = 0
    tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    burst_s: float = 10.0
    """The share of a minute's limits that may be used at once after an idle period, in seconds."""

    @property
    def by_meter(self) -> tuple[int, ...]:
        """Return the limits in the order of METERS."""
        return self.requests, self.tokens, self.input_tokens, self.output_tokens


@dataclass(frozen=True, slots=True)
class Spending:
    """The units that one call uses."""

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 1

    @classmethod
    def of(cls, usage: Usage) -> "Spending":
        """Return the units of a call's usage; tokens read from the prompt cache count against no limit."""
        return cls(usage.input_tokens + usage.cache_write_tokens, usage.output_tokens)

    @property
    def by_meter(self) -> tuple[int, ...]:
        """Return the units in the order of METERS."""
        return self.requests, self.input_tokens + self.output_tokens, self.input_tokens, self.output_tokens


@dataclass(frozen=True, slots=True)
class Guess:
    """An estimate of the next call's usage: an exponential moving average of a model's calls."""

    output_tokens: float = _OUTPUT_AT_FIRST
    input_share: float = 1.0
    """Input tokens counted against the limit per token of the prompt; below 1 where a cache holds the others.
    """

    def of(self, prompt_tokens: int, output_tokens_max: int) -> Spending:
        return Spending(
            max(1, round(prompt_tokens * self.input_share)),
            max(1, min(output_tokens_max, round(self.output_tokens))),
        )

    def updated(self, prompt_tokens: int, used: Spending) -> "Guess":
        """Return the estimate after a reply to a prompt."""
        share = min(_SHARE_MAX, used.input_tokens / max(1, prompt_tokens))
        return Guess(
            self.output_tokens + _NEWEST_WEIGHT * (used.output_tokens - self.output_tokens),
            self.input_share + _NEWEST_WEIGHT * (share - self.input_share),
        )
