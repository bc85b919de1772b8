"""The tools that a session may use, and the tools offered to the model in each round. Pure.

If the tools are few, all are offered. If they are many, the model is offered `find_tools` and those that fit the
question or a part of it best, chosen when the session opens. The choice only grows, so that the beginning of the
prompt changes little from round to round: by tools that `find_tools` finds, that the model calls, and that fit
its text and its open sub-questions best.
"""

from collections.abc import Iterable

from antiphon_shared.events import EventData, ReasoningCompleted, ToolsCompleted
from antiphon_shared.memory.note import read_note
from antiphon_shared.text.subquestions import sub_questions
from antiphon_shared.tools.calls import REPEAT_CALL, Catalogue, ToolDefinition
from antiphon_shared.tools.contract import Contract
from antiphon_shared.tools.relevance import (
    ASK_USER,
    BUILT_INS,
    FIND_TOOLS,
    PLAN,
    READ_RESULT,
    RECALL,
    most_relevant,
    rank,
    tool_names_in,
)
from pydantic import ValidationError

from coordinator.decision import OfferBounds
from coordinator.session import Session
from coordinator.session_parts import replace

_TOOLS_BY_TEXT_MAX = 2
"""Bound on the tools that the text of one reply may add."""
_QUESTIONS_MAX = 4
"""Bound on the open sub-questions of one reply, each of which may add a tool."""


def usable_tools(
    catalogue: Catalogue, names: Iterable[str] | None, scopes: frozenset[str]
) -> tuple[str, ...]:
    """Return the tools that a session may use, in the catalogue's order: the named ones or all, within its scopes."""
    requested_names = None if names is None else set(names)
    return tuple(
        tool.name
        for tool in catalogue.tools
        if tool.name not in BUILT_INS
        and (requested_names is None or tool.name in requested_names)
        and has_scopes_for(tool, scopes)
    )


def built_ins(catalogue: Catalogue, scopes: frozenset[str]) -> tuple[str, ...]:
    """Return the dispatchers' own tools that a session with those scopes may use."""
    return tuple(
        tool.name for tool in catalogue.tools if tool.name in BUILT_INS and has_scopes_for(tool, scopes)
    )


def has_scopes_for(tool: ToolDefinition, scopes: frozenset[str]) -> bool:
    """Return whether the scopes are enough for the tool; False if its contract cannot be read."""
    contract = contract_of(tool)
    return contract is not None and contract.scopes_needed <= scopes


def chosen(
    catalogue: Catalogue, tools: tuple[str, ...], query: str, max_rounds: int, bounds: OfferBounds
) -> tuple[str, ...] | None:
    """Return the tools to offer among a session's `tools`; None for all, if no round has too many.

    A tool for certain rounds is ranked among the tools of those rounds. Ties are ordered by name.
    """
    contracts = {name: contract for name in tools if (contract := contract_of(catalogue.by_name[name]))}
    rounds = [
        {name for name, contract in contracts.items() if contract.is_for_round(round)}
        for round in _representative_rounds(contracts.values(), max_rounds)
    ]
    if all(len(one_round) <= bounds.all_max for one_round in rounds):
        return None
    texts = (query, *sub_questions(query))
    order = most_relevant([catalogue.by_name[name] for name in tools], texts, bounds.subset)
    offer = {name for name, contract in contracts.items() if contract.pinned}
    for one_round in rounds:
        ranked = [tool.name for tool in order if tool.name in one_round and not contracts[tool.name].pinned]
        offer.update(one_round if len(one_round) <= bounds.all_max else ranked[: bounds.subset])
    return tuple(name for name in tools if name in offer)


def ranks_at_opening(catalogue: Catalogue, bounds: OfferBounds) -> bool:
    """Return whether a session's opening may rank the tools, which would block the event loop for too long."""
    return len(catalogue.tools) > bounds.all_max


def ranks_after(session: Session, data: EventData) -> bool:
    """Return whether the tools are ranked after this event: after a reply, when not all are offered."""
    return session.tools.offer is not None and isinstance(data, ReasoningCompleted)


def offered_tools(session: Session, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the tools that are offered in the session's round, in the catalogue's order.

    An unavailable tool is left out, and its alternatives are offered too.
    """
    names = session.tools.usable if session.tools.offer is None else session.tools.offer
    out = set(session.models.outages.tools)
    if out:
        instead = (
            other for name in names if name in out for other in _alternatives(name, session, catalogue)
        )
        names = tuple(name for name in (*names, *instead) if name not in out)
    return _in_round(session, catalogue, names)


def unavailable_tools(session: Session, catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """Return the tools that are not offered because they are unavailable, each with its available alternatives."""
    names = session.tools.usable if session.tools.offer is None else session.tools.offer
    out = set(session.models.outages.tools)
    return {
        name: tuple(other for other in _alternatives(name, session, catalogue) if other not in out)
        for name in names
        if name in out and _is_for_round(catalogue.by_name.get(name), session.round)
    }


def are_all_tools_unavailable(session: Session, catalogue: Catalogue) -> bool:
    """Return whether only unavailable tools are left for the round; built-in tools alone are of no use."""
    return bool(unavailable_tools(session, catalogue)) and not set(offered_tools(session, catalogue)) & set(
        session.tools.usable
    )


def allowed(session: Session, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the tools that may be called in the session's round, offered or not, in the catalogue's order."""
    return _in_round(session, catalogue, session.tools.usable)


def after_reply(session: Session, catalogue: Catalogue, reply: ReasoningCompleted) -> Session:
    """Return the session with more tools offered: the tools that the model calls, and tools that fit its text."""
    if session.tools.offer is None:
        return session
    tools = [catalogue.by_name[name] for name in session.tools.usable if name in catalogue.by_name]
    note, _ = read_note(reply.text)
    still_open = note.open[:_QUESTIONS_MAX] if note is not None else ()
    fitting = [
        *rank(tools, reply.text, _TOOLS_BY_TEXT_MAX),
        *(tool for one in still_open for tool in rank(tools, one, 1)),
    ]
    return _offer_more(session, (*(call.name for call in reply.tool_calls), *(tool.name for tool in fitting)))


def after_results(session: Session, completed: ToolsCompleted) -> Session:
    """Return the session with the findings of `find_tools` and `_plan` offered, and `read_result` if needed."""
    names: list[str] = []
    for result in completed.results:
        if result.tool in (FIND_TOOLS, PLAN) and result.status == "ok":
            names += tool_names_in(result.data) or ()
    if not session.tools.has_handles and any(result.handle for result in completed.results):
        session = replace(session, tools=replace(session.tools, has_handles=True))
    return _offer_more(session, names)


def contract_of(tool: ToolDefinition | None) -> Contract | None:
    """Return the contract of a tool; None for no tool, or for a contract of another version than ours."""
    if tool is None:
        return None
    try:
        return tool.contract
    except ValidationError:
        return None


def _alternatives(name: str, session: Session, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the alternatives of a tool that the session may use."""
    contract = contract_of(catalogue.by_name.get(name))
    others = contract.alternatives if contract is not None else ()
    return tuple(other.tool for other in others if other.tool in session.tools.usable)


def _offer_more(session: Session, names: Iterable[str]) -> Session:
    """Return the session with more of its usable tools offered."""
    if session.tools.offer is None:
        return session
    offered = {*session.tools.offer, *names}
    offer = tuple(name for name in session.tools.usable if name in offered)
    if offer == session.tools.offer:
        return session
    return replace(session, tools=replace(session.tools, offer=offer))


def _in_round(session: Session, catalogue: Catalogue, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are for the session's round, with the built-in tools that are of use.

    A tool without a definition, as its catalogue has expired, is for every round.
    """
    permitted = {name for name in names if _is_for_round(catalogue.by_name.get(name), session.round)}
    validating = set(session.output.validation_tools) & set(session.tools.usable)
    permitted |= {
        name
        for name in validating - set(session.models.outages.tools)
        if _is_for_round(catalogue.by_name.get(name), session.round)
    }
    if permitted and session.tools.offer is not None:
        permitted.add(FIND_TOOLS)
    if permitted and _has_workflows(session.tools.usable, catalogue):
        permitted.add(PLAN)
    if session.tools.has_handles:
        permitted.add(READ_RESULT)
    if session.material.has_omissions:
        permitted.add(RECALL)
    if any(write.state != "asked" for write in session.writes.made):
        permitted.add(REPEAT_CALL)
    if session.query.is_interactive:
        permitted.add(ASK_USER)
    permitted -= set(BUILT_INS) - set(session.tools.built_ins)
    in_catalogue = [tool.name for tool in catalogue.tools if tool.name in permitted]
    return (*in_catalogue, *sorted(permitted.difference(in_catalogue)))


def _has_workflows(names: Iterable[str], catalogue: Catalogue) -> bool:
    """Return whether some of the tools are workflows or recipes."""
    return any(tool.workflow for name in names if (tool := catalogue.by_name.get(name)))


def _is_for_round(tool: ToolDefinition | None, round: int) -> bool:
    contract = contract_of(tool)
    return contract is None or contract.is_for_round(round)


def _representative_rounds(contracts: Iterable[Contract], max_rounds: int) -> list[int]:
    """Return the rounds that contracts name, and one that represents all other rounds."""
    rounds = {round for contract in contracts for round in contract.rounds if round <= max_rounds}
    others = (round for round in range(1, max_rounds + 1) if round not in rounds)
    return sorted({*rounds, *([first] if (first := next(others, None)) else [])})
