"""The prices of a model's tokens. Pure."""

from typing import Annotated

from antiphon_shared.values import Usage, Value
from pydantic import Field

Usd = Annotated[float | None, Field(ge=0, le=1e6)]
_TOKENS_PER_PRICE = 1_000_000


class Prices(Value):
    """The prices of a million tokens of a model, in US dollars; None if unknown."""

    input_usd: Usd = None
    output_usd: Usd = None
    cache_read_usd: Usd = None
    cache_write_usd: Usd = None

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the cost of `usage` in US dollars; None if the price of any token in it is unknown."""
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

    def total(self, before: Usage, usage: Usage) -> Usage:
        """Return the total usage, with its cost."""
        return before.plus(usage.model_copy(update={"cost_usd": self.cost_usd(usage)}))
