"""Builders of decisions on a briefing while something is unavailable."""

from typing import Any

from antiphon_shared.breakers.outages import ModelOutage, Outages

from coordinator.decision import Decision
from coordinator.session import Session
from tests.coordinator.builders import a_briefing, answered


def asked(session: Session, *models_out: ModelOutage, tools_out: tuple[str, ...] = (), **at: Any) -> Decision:
    """Return the decision on the briefing with these outages."""
    outages = Outages(tools=tools_out, models=models_out)
    return answered(session, a_briefing(session.round), outages=outages, **at)


def kinds(session: Session) -> list[str]:
    return [uncertainty.kind for uncertainty in session.uncertainty]
