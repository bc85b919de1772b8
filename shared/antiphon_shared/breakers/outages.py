"""What is out of order right now, as circuit breakers tell it: an input of decisions, recorded with them."""

from datetime import datetime

from pydantic import AwareDatetime, Field

from antiphon_shared.values import Value


class ModelOutage(Value):
    """A model that is not to be asked for a while."""

    model: str
    until: AwareDatetime


class Outages(Value):
    """The tools and models whose circuit is open."""

    tools: tuple[str, ...] = Field(default=(), description="Names, sorted.")
    models: tuple[ModelOutage, ...] = Field(default=(), description="Sorted by model.")

    def out_until(self, model: str, now: datetime) -> datetime | None:
        """Until when a model is out of order; None when it may be asked."""
        until = next((outage.until for outage in self.models if outage.model == model), None)
        return until if until is not None and until > now else None


NO_OUTAGES = Outages()
