"""Which model a session asks next: its own, or the first of the others that is in order. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from coordinator.session import Session
from shared.outages import ModelOutage, Outages

_REST_S_MIN = 1.0
"""A model that was just found out of order is not asked again earlier, so that nothing goes round in circles."""
_REST_S_MAX = 3_600.0


def in_order(own: str, fallbacks: Iterable[str]) -> tuple[str, ...]:
    """The models of a session: the query's own first where it names one, and each once."""
    return tuple(dict.fromkeys(filter(None, (own, *fallbacks))))


def next_model(session: Session, now: datetime) -> str | datetime | None:
    """The model to ask; the moment to wait for when all are out of order; None when none is left at all."""
    usable = [model for model in session.models or (session.model,) if model not in session.unusable]
    waits = []
    for model in usable:
        until = _out_until(session, model, now)
        if until is None:
            return model
        waits.append(until)
    return max(min(waits), now + timedelta(seconds=_REST_S_MIN)) if waits else None


def resting(session: Session, model: str, until: datetime) -> Session:
    """The session that leaves a model alone for a while, whatever others know of it."""
    others = tuple(rest for rest in session.rests if rest.model != model)
    return session.model_copy(update={"rests": (*others, ModelOutage(model=model, until=until))})


def rest_until(now: datetime, retry_after_s: float | None) -> datetime:
    """When a model that asks to be left alone may be asked again."""
    return now + timedelta(seconds=min(max(retry_after_s or 0.0, _REST_S_MIN), _REST_S_MAX))


def that_matter(session: Session, outages: Outages) -> Outages:
    """Of what is out of order, what the session could use."""
    return Outages(
        tools=tuple(tool for tool in outages.tools if tool in session.tools),
        models=tuple(outage for outage in outages.models if outage.model in session.models),
    )


def _out_until(session: Session, model: str, now: datetime) -> datetime | None:
    known = (session.outages.out_until(model, now), Outages(models=session.rests).out_until(model, now))
    return max(filter(None, known), default=None)
