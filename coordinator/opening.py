"""The opening of a session, which fixes its bounds, its authorization and its tools. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from antiphon_shared.bus.handling import SetTimer
from antiphon_shared.events import (
    AnyEvent,
    AssemblyRequested,
    BriefingRequested,
    ComponentFailed,
    DeadlineReached,
    EventData,
    QuerySubmitted,
    SessionOpened,
)
from antiphon_shared.events.session import Limits, Response, Turn, Uncertainty
from antiphon_shared.memory.conversation import earlier
from antiphon_shared.output.steps import tools_of
from antiphon_shared.process.ids import child_id
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.grants import UnreadableGrant, read_claims
from antiphon_shared.values import DEFAULT_TENANT, LogEntry, SessionId, Tenant

from coordinator import limits, models, offer, outputs
from coordinator.decision import GRANT_ACCEPTED, Decision, GrantCheck, OfferBounds, Opening
from coordinator.endings import end
from coordinator.requests import DEADLINE, request_briefing
from coordinator.session import Session, new_uncertainty
from coordinator.session_output import Output
from coordinator.session_parts import Material, Models, Query, Tools, replace
from coordinator.steps import begin_attempt, note_of, plans_of

_IGNORED = (
    "The session's grant was ignored, because the coordinator has no key to verify it: the session had the default "
    "scopes and tenant."
)
_MISSING_LISTED_MAX = 20
"""Bound on the unusable tools that are reported one by one, as every step rewrites the session's document."""


@dataclass(frozen=True, slots=True)
class Authorization:
    """The tenant and the scopes of a session."""

    tenant: Tenant
    scopes: frozenset[str]
    problem: str = ""
    """The reason why the grant cannot be used, as the end of a sentence; then no tools are offered."""


def open_session(
    event: AnyEvent, log_entry: LogEntry, query: QuerySubmitted, opening: Opening, catalogue: Catalogue
) -> Decision:
    """Return the decision that opens the session of a query, the data of `event` at `log_entry`."""
    authorization = authorization_of(query.grant, event.subject, event.time, opening.grant, catalogue)
    is_continued = query.options.conversation_id is not None and not authorization.problem
    turns = earlier(opening.conversation, event.subject, event.time) if is_continued else ()
    session = _session(event, log_entry, query, opening, catalogue, authorization)
    session = replace(session, material=Material(has_untrusted=any(turn.has_untrusted for turn in turns)))
    opened = _opened_event(session, query, opening, turns)
    if steps := query.options.step_list:
        session = begin_attempt(session, 1)
    if opening.cancelled_because is not None:
        ended = end(session, event, "cancelled", "cancelled")
        return _ended_at_once(event, opened, ended).in_format(event.format)
    if lacking := outputs.missing_tools(session):
        ended = outputs.end_without(session, event, lacking)
        return _ended_at_once(event, opened, ended).in_format(event.format)
    decision = request_briefing(session, event, before=(opened,))
    if steps:
        decision = decision.with_events(note_of(session))
    commands = tuple(_with_turns(command, turns) for command in decision.commands)
    timer = SetTimer(DEADLINE, session.deadline, DeadlineReached())
    return Decision(decision.session, commands, (timer,)).in_format(event.format)


def _session(
    event: AnyEvent,
    log_entry: LogEntry,
    query: QuerySubmitted,
    opening: Opening,
    catalogue: Catalogue,
    authorization: Authorization,
) -> Session:
    """Return the session of a query with its bounds, tools and models."""
    options = query.options
    bounds = limits.resolve_limits(options, opening.limits)
    steps = options.step_list
    tool_names = tools_of(steps) if steps else options.tools
    tools = () if authorization.problem else offer.usable_tools(catalogue, tool_names, authorization.scopes)
    offered = None if steps else offer.chosen(catalogue, tools, query.query, bounds.max_rounds, opening.offer)
    return Session(
        id=event.subject,
        format=event.format,
        limits=bounds,
        opened=event.time,
        deadline=event.time + timedelta(seconds=bounds.deadline_s),
        query=Query(
            question=log_entry,
            tenant=authorization.tenant,
            grant="" if opening.grant.is_ignored else query.grant,
            citations=options.citations or "normal",
            conversation=None if authorization.problem else options.conversation_id,
            is_interactive=bool(options.interactive),
        ),
        tools=Tools(
            catalogue=opening.catalogue,
            usable=tools,
            built_ins=offer.built_ins(catalogue, authorization.scopes) if tools else (),
            offer=offered,
        ),
        models=Models(own=options.model or "", order=models.in_order(options.model or "", opening.models)),
        output=Output(
            is_demanded=options.output_schema is not None, validation_tools=options.validation_tools or ()
        ),
        steps=plans_of(steps, tools),
        uncertainty=_uncertainties(query, opening, catalogue, authorization, tool_names),
    )


def _opened_event(
    session: Session, query: QuerySubmitted, opening: Opening, turns: tuple[Turn, ...]
) -> SessionOpened:
    """Return the event with the limits, tools and permissions that a session was opened with."""
    return SessionOpened(
        limits=session.limits,
        options=query.options,
        catalogue=session.tools.catalogue,
        tools=session.tools.usable,
        model=session.models.own,
        models=session.models.order,
        conversation=turns,
        tools_offered_all_max=opening.offer.all_max,
        tools_offered=opening.offer.subset,
        deadline=session.deadline,
        grant_refused=opening.grant.problem,
        is_grant_ignored=opening.grant.is_ignored,
        is_too_late_for_tools=opening.is_too_late_for_tools,
        cancelled_because=opening.cancelled_because or "",
    )


def _ended_at_once(event: AnyEvent, opened: SessionOpened, decision: Decision) -> Decision:
    """Return the decision that opens a session and ends it at once, as `decision` does."""
    commands = (opened, *decision.commands)
    waiting = replace(decision.session, awaiting=(child_id(event.id, len(commands) - 1),))
    return replace(decision, session=waiting, commands=commands)


def conversation_of(
    query: QuerySubmitted, session_id: SessionId, now: datetime, check: GrantCheck = GRANT_ACCEPTED
) -> tuple[Tenant, SessionId] | None:
    """Return the tenant and the id of a query's conversation; None without one or without a usable grant."""
    authorization = authorization_of(query.grant, session_id, now, check, Catalogue())
    conversation = query.options.conversation_id
    return None if conversation is None or authorization.problem else (authorization.tenant, conversation)


def _with_turns(command: EventData, turns: tuple[Turn, ...]) -> EventData:
    """Add the turns to the first request for a briefing, which files them; the log holds no event with them yet."""
    if isinstance(command, BriefingRequested):
        return command.model_copy(update={"conversation": turns})
    return command


def end_unopened(event: AnyEvent, log_entry: LogEntry, failure: ComponentFailed) -> Decision:
    """Return the end of a session that could not be opened, with its answer."""
    return without_state(event, log_entry, f"The session could not be opened: {failure.error.message}")


def without_state(event: AnyEvent, question: LogEntry, why: str) -> Decision:
    """Return the end of a session that has no stored state, with its answer."""
    nothing = Limits(max_rounds=1, max_tool_calls=0, max_tokens=100, deadline_s=1)
    session = Session(
        id=event.subject,
        format=event.format,
        limits=nothing,
        opened=event.time,
        deadline=event.time,
        query=Query(question=question),
        phase="assembling",
    )
    answer = Response(
        session_id=event.subject,
        status="failed",
        answer=why,
        termination_reason="internal_error",
        rounds_used=0,
        tool_calls_used=0,
        duration_ms=0,
    )
    return Decision(session, answer=answer)


def recorded_opening(opened: SessionOpened, then: Iterable[EventData] = ()) -> Opening:
    """Return the values that a session was opened with, from its log alone.

    `then` are the events of the same decision: a cancelled query is followed by the end of its session.
    """
    is_cancelled = any(isinstance(one, AssemblyRequested) and one.status == "cancelled" for one in then)
    return Opening(
        limits=opened.limits,
        catalogue=opened.catalogue,
        offer=OfferBounds(opened.tools_offered_all_max, opened.tools_offered),
        is_catalogue_missing=not opened.catalogue,
        is_too_late_for_tools=opened.is_too_late_for_tools,
        models=opened.models,
        conversation=opened.conversation,
        grant=GrantCheck(opened.grant_refused, opened.is_grant_ignored),
        cancelled_because=opened.cancelled_because if is_cancelled else None,
    )


def authorization_of(
    grant: str, session_id: SessionId, now: datetime, check: GrantCheck, catalogue: Catalogue
) -> Authorization:
    """Return the tenant and scopes of a session, from its grant; without a grant, the default ones."""
    if check.problem:
        return Authorization(DEFAULT_TENANT, frozenset(), check.problem)
    if not grant or check.is_ignored:
        return Authorization(DEFAULT_TENANT, frozenset(catalogue.default_scopes))
    try:
        claims = read_claims(grant)
    except UnreadableGrant as error:
        return Authorization(DEFAULT_TENANT, frozenset(), error.message)
    if claims.expires <= now:
        problem = f"it expired at {claims.expires.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC."
    elif claims.session and claims.session != session_id:
        problem = f"it is for session {claims.session} alone."
    else:
        return Authorization(claims.tenant, frozenset(claims.scopes))
    return Authorization(claims.tenant, frozenset(), problem)


def _uncertainties(
    query: QuerySubmitted,
    opening: Opening,
    catalogue: Catalogue,
    authorization: Authorization,
    tool_names: Sequence[str] | None,
) -> tuple[Uncertainty, ...]:
    added = []
    if opening.is_catalogue_missing:
        message = "No tool dispatcher had published its tools when the session began."
        added.append(new_uncertainty("tools_unavailable", message, "tools"))
    elif opening.is_too_late_for_tools:
        message = "No tool dispatcher was running until the deadline, so no tool was called."
        added.append(new_uncertainty("tools_unavailable", message, "tool_dispatcher"))
    if opening.grant.is_ignored:
        added.append(new_uncertainty("grant_ignored", _IGNORED, "grant"))
    if authorization.problem:
        lost = " and its conversation was not continued" if query.options.conversation_id else ""
        message = (
            f"The session's grant could not be used, so no tools were offered{lost}: {authorization.problem}"
        )
        added.append(new_uncertainty("grant_invalid", message, "grant"))
    reasons = [(name, _why_unavailable(name, catalogue, authorization)) for name in tool_names or ()]
    lacking = [(name, why) for name, why in reasons if why]
    added += [new_uncertainty("tools_unavailable", why, name) for name, why in lacking[:_MISSING_LISTED_MAX]]
    if (more := len(lacking) - _MISSING_LISTED_MAX) > 0:
        added.append(
            new_uncertainty("tools_unavailable", f"{more} more requested tools were not used.", "tools")
        )
    return tuple(added)


def _why_unavailable(name: str, catalogue: Catalogue, authorization: Authorization) -> str:
    """Return why a tool that the query names is not used; empty if it is used, or if the problem is the grant."""
    tool = catalogue.by_name.get(name)
    if tool is None:
        return f"There is no tool {name!r}; it was not used."
    contract = offer.contract_of(tool)
    if contract is None:
        return f"The contract of {name!r} cannot be read; it was not used."
    lacking = sorted(contract.scopes_needed - authorization.scopes)
    if authorization.problem or not lacking:
        return ""
    return f"The session's scopes lack {', '.join(lacking)}, which {name!r} needs; it was not used."
