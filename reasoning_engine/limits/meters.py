"""What is counted by the minute, and what a call is likely to count for. Pure."""

from dataclasses import dataclass
from typing import Literal

from antiphon_shared.values import Usage

Meter = Literal["requests", "tokens", "input_tokens", "output_tokens"]
METERS: tuple[Meter, ...] = ("requests", "tokens", "input_tokens", "output_tokens")
"""In the order the scripts count them in."""

_NEWEST_WEIGHT = 0.2
_OUTPUT_AT_FIRST = 500.0
_SHARE_MAX = 4.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What the settings allow in a minute; 0: what the server says. For each model alike."""

    requests: int = 0
    tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    burst_s: float = 10.0
    """Of the limits' minute, how much may be used at once after a rest."""

    @property
    def by_meter(self) -> tuple[int, ...]:
        """In the order of METERS."""
        return self.requests, self.tokens, self.input_tokens, self.output_tokens


@dataclass(frozen=True, slots=True)
class Spending:
    """What one call counts for."""

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 1

    @classmethod
    def of(cls, usage: Usage) -> "Spending":
        """What a call has used; what was read from the prompt cache counts against no limit."""
        return cls(usage.input_tokens + usage.cache_write_tokens, usage.output_tokens)

    @property
    def by_meter(self) -> tuple[int, ...]:
        """In the order of METERS."""
        return self.requests, self.input_tokens + self.output_tokens, self.input_tokens, self.output_tokens


@dataclass(frozen=True, slots=True)
class Guess:
    """What a model's calls have used so far, on an average that forgets: what the next is likely to use."""

    output_tokens: float = _OUTPUT_AT_FIRST
    input_share: float = 1.0
    """Tokens counted against the limit for each of a prompt's; below 1 where a cache holds the others."""

    def of(self, prompt_tokens: int, output_tokens_max: int) -> Spending:
        return Spending(
            max(1, round(prompt_tokens * self.input_share)),
            max(1, min(output_tokens_max, round(self.output_tokens))),
        )

    def after(self, prompt_tokens: int, spent: Spending) -> "Guess":
        """The guess that a reply to a prompt teaches."""
        share = min(_SHARE_MAX, spent.input_tokens / max(1, prompt_tokens))
        return Guess(
            self.output_tokens + _NEWEST_WEIGHT * (spent.output_tokens - self.output_tokens),
            self.input_share + _NEWEST_WEIGHT * (share - self.input_share),
        )
