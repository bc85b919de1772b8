"""Which model a session asks next: its own, or the first of the others that is in order. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from antiphon_shared.breakers.outages import NO_OUTAGES, ModelOutage, Outages

from coordinator.session import Session, replace

_REST_S_MIN, _REST_DOUBLINGS_MAX = 1.0, 6
"""No model is waited for for a shorter time, which doubles with each wait: nothing goes round in circles."""
_REST_S_MAX = 3_600.0
_AFTER_FAILURES_S = 30.0
"""How long a session prefers other models to one that has failed it twice in a round."""


def in_order(own: str, fallbacks: Iterable[str]) -> tuple[str, ...]:
    """The models of a session: the query's own first where it names one, and each once."""
    return tuple(dict.fromkeys(filter(None, (own, *fallbacks))))


def next_model(session: Session, now: datetime) -> str | datetime | None:
    """The model to ask; the moment to wait for when all are out of order; None when none is left at all."""
    usable = [
        model
        for model in session.models.order or (session.models.own,)
        if model not in session.models.unusable
    ]
    waits = []
    for model in usable:
        until = _out_until(session, model, now)
        if until is None:
            return model
        waits.append(until)
    shortest_s = _shortest_s(session.models.waits)
    return max(min(waits), now + timedelta(seconds=shortest_s)) if waits else None


def resting(session: Session, model: str, until: datetime) -> Session:
    """The session that leaves a model alone for a while, whatever others know of it."""
    others = tuple(rest for rest in session.models.rests if rest.model != model)
    rests = (*others, ModelOutage(model=model, until=until))
    return replace(session, models=replace(session.models, rests=rests))


def preferring_others(session: Session, model: str, now: datetime) -> Session:
    """The session that leaves a failing model alone, where there is another to ask; itself where there is none."""
    others = (
        other for other in session.models.order if other != model and other not in session.models.unusable
    )
    if all(_out_until(session, other, now) for other in others):
        return session
    return resting(session, model, now + timedelta(seconds=_AFTER_FAILURES_S))


def has_others(session: Session, model: str) -> bool:
    """Whether the session has another model that may be asked, now or later."""
    return any(other != model and other not in session.models.unusable for other in session.models.order)


def rest_until(now: datetime, retry_after_s: float, pauses: int) -> datetime:
    """When a model that asks to be left alone may be asked again, after so many pauses of the round before."""
    return now + timedelta(seconds=min(max(retry_after_s, _shortest_s(pauses)), _REST_S_MAX))


def that_matter(session: Session, outages: Outages) -> Outages:
    """Of what is out of order, what the session could use."""
    if outages == NO_OUTAGES:
        return outages
    return Outages(
        tools=tuple(tool for tool in outages.tools if tool in session.tools.usable),
        models=tuple(outage for outage in outages.models if outage.model in session.models.order),
    )


def _shortest_s(waits_before: int) -> float:
    return _REST_S_MIN * 2.0 ** min(waits_before, _REST_DOUBLINGS_MAX)


def _out_until(session: Session, model: str, now: datetime) -> datetime | None:
    if not session.models.rests:
        return session.models.outages.out_until(model, now)
    known = (
        session.models.outages.out_until(model, now),
        Outages(models=session.models.rests).out_until(model, now),
    )
    return max(filter(None, known), default=None)
