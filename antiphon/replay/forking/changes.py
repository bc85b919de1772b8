"""The changes of a fork to the session and to its deliveries in flight. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from antiphon_shared.events import (
    AnyEvent,
    BriefingReady,
    BriefingRequested,
    EventData,
    ReasoningRequested,
    SummaryRequested,
    ToolsRequested,
)
from antiphon_shared.events.codec import explain
from antiphon_shared.events.session import Limits
from antiphon_shared.events.step_records import ForkRecord
from antiphon_shared.memory.briefing import digest_of
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import Catalogue
from pydantic import ValidationError

from antiphon.recording.hashes import content_hash
from antiphon.recording.lines import EventLine
from antiphon.replay.forking.moved import moved
from antiphon.replay.forking.point import Point
from antiphon.replay.steps.redelivery import redelivered_as
from coordinator import limits, offer
from coordinator.document import changes as changed_fields
from coordinator.document import document_version
from coordinator.opening import open_session, recorded_opening
from coordinator.requests import request_reasoning
from coordinator.session import Session
from coordinator.session_parts import replace

PROMPT_FILE = "ANTIPHON_REASONING_ENGINE_PROMPT_FILE"
OFFLINE = "offline"
"""The value of `model` for the offline model, which then replies under the name of the session's model."""
_PERSON_S = 1.0
"""The time limit for a person, short because a fork cannot ask one."""
_DEPLOYMENT_SETTINGS = (
    "ANTIPHON_REDIS_",
    "ANTIPHON_NAMESPACE",
    "ANTIPHON_PARTITIONS",
    "ANTIPHON_SIGNING_KEY",
)
"""Settings of a deployment, which a fork must not change."""


@dataclass(frozen=True)
class Changes:
    """The changes that apply after the point of a fork."""

    model: str = ""
    """A model id, or `offline`."""
    limits: dict[str, Any] = field(default_factory=dict)
    """Limits of the session, by name."""
    settings: dict[str, str] = field(default_factory=dict)
    """Settings of the components, by variable."""
    by_option: dict[str, str] = field(default_factory=dict)
    """All changes by option, for the header of the new recording."""


def read_changes(model: str = "", sets: Iterable[str] = (), prompt: tuple[str, str] | None = None) -> Changes:
    """Return the changes from options; `sets` are like `max_rounds=2`, `prompt` is a file and its text.

    Raises ConfigurationError.
    """
    assignments = [one.partition("=") for one in sets]
    bounds, settings = dict[str, Any](), dict[str, str]()
    if prompt is not None:
        settings[PROMPT_FILE] = prompt[0]
    for name, sign, value in assignments:
        if not sign:
            raise ConfigurationError(
                f"--set {name}: the value is missing.", hint="Use the form max_rounds=2."
            )
        if name.startswith(_DEPLOYMENT_SETTINGS):
            raise ConfigurationError(f"--set {name}: a fork runs on a private Redis.", hint="Omit it.")
        if name.startswith("ANTIPHON_"):
            settings[name] = value
        elif name in Limits.model_fields:
            bounds[name] = value
        else:
            raise ConfigurationError(
                f"--set {name}: no limit or setting has this name.",
                hint=f"The limits are {', '.join(Limits.model_fields)}; `antiphon settings` lists the "
                "settings.",
            )
    values = {name: value for name, _, value in assignments}
    values |= {"model": model} if model else {}
    values |= {"prompt": content_hash(prompt[1].strip().encode())} if prompt else {}
    return Changes(model, bounds, settings, values)


@dataclass(frozen=True)
class Forked:
    """A session in the state in which it resumes."""

    session: Session
    deliveries: tuple[EventLine, ...]
    """The deliveries that were in flight, with the changes."""
    record: ForkRecord
    moved_by: timedelta


def forked(point: Point, changes: Changes, now: datetime, content_hash: str, catalogue: Catalogue) -> Forked:
    """Return the session as it resumes at `now`, with the tools of a catalogue. Raises ConfigurationError."""
    assert point.event is not None, "a point is after an event"
    assert point.session is not None, "and its session is open"
    by = now - point.event.event.time
    session = _with_tools(moved(point.session, by), point, content_hash, catalogue)
    session = _with_model(_with_limits(session, changes, now), changes.model)
    deliveries = []
    for line in point.pending:
        event = moved(line.event, by)
        session, data = _request_again(session, event, point, changes, catalogue)
        deliveries.append(EventLine(line.n, line.entry, event.model_copy(update={"data": data})))
    record = ForkRecord(
        of=point.event.event.id,
        changed=changed_fields(point.session, session),
        document_version=document_version(session.format),
        redelivered=tuple(map(redelivered_as, point.pending, deliveries)),
    )
    return Forked(session, tuple(deliveries), record, by)


def _with_limits(session: Session, changes: Changes, now: datetime) -> Session:
    values = {"person_s": _PERSON_S, **changes.limits}
    try:
        bounds = Limits.model_validate({**session.limits.model_dump(), **values})
    except ValidationError as error:
        raise ConfigurationError(f"--set {explain(error)}.", hint="See docs/limits.md.") from None
    deadline = session.deadline
    if "deadline_s" in changes.limits:
        deadline = session.opened + timedelta(seconds=min(bounds.deadline_s, bounds.deadline_max_s))
        if deadline <= now:
            passed_s = (now - session.opened).total_seconds()
            raise ConfigurationError(
                f"--set deadline_s: {passed_s:.1f} s had passed at that event.", hint="Set a larger value."
            )
    return replace(session, limits=bounds, deadline=deadline)


def _with_model(session: Session, model: str) -> Session:
    """Return the session with only this model, and without the failures of other models."""
    if not model or model == OFFLINE:
        return session
    only = replace(session.models, own=model, order=(model,), unusable=(), rests=())
    return replace(session, models=only)


def _with_tools(session: Session, point: Point, content_hash: str, catalogue: Catalogue) -> Session:
    """Return the session as if it had been opened with these tools."""
    if content_hash == session.tools.catalogue:
        return session
    query, submitted, opened = point.opened
    opening = recorded_opening(opened.model_copy(update={"catalogue": content_hash}))
    reopened = open_session(query.event, query.entry, submitted, opening, catalogue).session
    chosen = reopened.tools.offer
    if chosen is not None:
        grown = {*chosen, *(session.tools.offer or ())}
        chosen = tuple(name for name in reopened.tools.usable if name in grown) or None
    steps = replace(session.steps, plans=reopened.steps.plans, lacking=reopened.steps.lacking)
    tools = replace(
        session.tools,
        catalogue=content_hash,
        usable=reopened.tools.usable if steps.plan is None else steps.plan.tools,
        built_ins=reopened.tools.built_ins,
        offer=chosen,
    )
    return replace(session, tools=tools, steps=steps)


def _request_again(
    session: Session, event: AnyEvent, point: Point, changes: Changes, catalogue: Catalogue
) -> tuple[Session, EventData]:
    """Return the session, and the event of a delivery in flight as the changed session sends it."""
    data = event.data
    match data:
        case ReasoningRequested() if event.causationid is not None:
            cause = point.content.lines[event.causationid].event
            model = data.model if changes.model in ("", OFFLINE) else changes.model
            return _reasoning(session, cause, model, point, catalogue) or (session, data)
        case BriefingRequested():
            return session, data.model_copy(update={"max_rounds": session.limits.max_rounds})
        case ToolsRequested():
            allowed = offer.allowed(session, catalogue)
            return session, data.model_copy(update={"allowed": allowed, "deadline": session.deadline})
        case SummaryRequested():
            return session, data.model_copy(update={"deadline": session.deadline})
        case _:
            return session, data


def _reasoning(
    session: Session, cause: AnyEvent, model: str, point: Point, catalogue: Catalogue
) -> tuple[Session, EventData] | None:
    """Return the session and its request to the model, decided today from the same briefing; None without one."""
    if not isinstance(cause.data, BriefingReady):
        return None
    left = max(1, limits.tokens_left(session))
    decision = request_reasoning(session, cause, cause.data, left, model, catalogue)
    # Today's code may write another briefing than the recorded one; the restored briefing counts.
    text = {"briefing": digest_of(point.briefings.text)}
    return decision.session, decision.commands[0].model_copy(update=text)
