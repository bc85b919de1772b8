"""The open circuits at one time: an input of decisions, recorded with them."""

from datetime import datetime

from pydantic import AwareDatetime, Field

from antiphon_shared.values import Value


class ModelOutage(Value):
    """A model that must not be called for a while."""

    model: str
    until: AwareDatetime


class Outages(Value):
    """The tools and models whose circuit is open."""

    tools: tuple[str, ...] = Field(default=(), description="Names, sorted.")
    models: tuple[ModelOutage, ...] = Field(default=(), description="Sorted by model.")

    def out_until(self, model: str, now: datetime) -> datetime | None:
        """Return the end of a model's outage; None if it may be called."""
        until = next((outage.until for outage in self.models if outage.model == model), None)
        return until if until is not None and until > now else None


NO_OUTAGES = Outages()
