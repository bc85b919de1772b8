"""The model that a session asks next: its own, or the first available one of the others. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from antiphon_shared.breakers.outages import NO_OUTAGES, ModelOutage, Outages

from coordinator.session import Session
from coordinator.session_parts import replace

_COOLDOWN_S_MIN, _COOLDOWN_DOUBLINGS_MAX = 1.0, 6
"""Bounds on the least wait for a model, which doubles each time, so that a session does not poll."""
_COOLDOWN_S_MAX = 3_600.0
_AFTER_FAILURES_S = 30.0
"""The time for which a session prefers other models, after two failures of a model in one round."""


def in_order(own: str, fallbacks: Iterable[str]) -> tuple[str, ...]:
    """Return the models of a session, each once: the query's own first, if it names one."""
    return tuple(dict.fromkeys(filter(None, (own, *fallbacks))))


def next_model(session: Session, now: datetime) -> str | datetime | None:
    """Return the model to ask, or the time at which one is available again; None if no model remains."""
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
    shortest_s = _cooldown_s_min(session.models.waits)
    return max(min(waits), now + timedelta(seconds=shortest_s)) if waits else None


def with_cooldown(session: Session, model: str, until: datetime) -> Session:
    """Return the session with a cooldown for a model, independent of outages that others report."""
    others = tuple(rest for rest in session.models.rests if rest.model != model)
    outages = (*others, ModelOutage(model=model, until=until))
    return replace(session, models=replace(session.models, rests=outages))


def with_others_preferred(session: Session, model: str, now: datetime) -> Session:
    """Return the session with a cooldown for a failing model; itself when no other model can be asked."""
    others = (
        other for other in session.models.order if other != model and other not in session.models.unusable
    )
    if all(_out_until(session, other, now) for other in others):
        return session
    return with_cooldown(session, model, now + timedelta(seconds=_AFTER_FAILURES_S))


def has_others(session: Session, model: str) -> bool:
    """Return whether the session has another model that may be asked, now or later."""
    return any(other != model and other not in session.models.unusable for other in session.models.order)


def cooldown_until(now: datetime, retry_after_s: float, earlier_cooldowns: int) -> datetime:
    """Return when a model in cooldown may be asked again, after `earlier_cooldowns` earlier cooldowns in the round."""
    return now + timedelta(
        seconds=min(max(retry_after_s, _cooldown_s_min(earlier_cooldowns)), _COOLDOWN_S_MAX)
    )


def relevant_outages(session: Session, outages: Outages) -> Outages:
    """Return the outages of tools and models that the session could use."""
    if outages == NO_OUTAGES:
        return outages
    return Outages(
        tools=tuple(tool for tool in outages.tools if tool in session.tools.usable),
        models=tuple(outage for outage in outages.models if outage.model in session.models.order),
    )


def _cooldown_s_min(waits_before: int) -> float:
    return _COOLDOWN_S_MIN * 2.0 ** min(waits_before, _COOLDOWN_DOUBLINGS_MAX)


def _out_until(session: Session, model: str, now: datetime) -> datetime | None:
    if not session.models.rests:
        return session.models.outages.out_until(model, now)
    ends = (
        session.models.outages.out_until(model, now),
        Outages(models=session.models.rests).out_until(model, now),
    )
    return max(filter(None, ends), default=None)
