"""The permissions of a batch, decided at every delivery from the session's current grant."""

import asyncio
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.events import ApprovalDecided, ToolsRequested
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import Contract
from antiphon_shared.workflows.graph import UNDO

from tool_dispatcher.access.grants import Authorization, Verifier
from tool_dispatcher.access.permission import (
    ApprovalRule,
    Terms,
    approves,
    cannot_substitute,
    permission_error,
    refusal,
)
from tool_dispatcher.authoring.tool import Tool


@dataclass(frozen=True, slots=True)
class Permissions:
    """The permissions of a batch."""

    authorization: Authorization = field(default_factory=Authorization)
    refused: Mapping[int, ToolError] = field(default_factory=dict)
    """By index in the batch: why a call must neither run nor show a result."""
    denied: Container[str] = ()
    """Tools that must not replace other tools."""
    hidden: Container[str] = ()
    """Tools that a search must not find: the session may not call them in the next round."""
    approved: Container[int] = ()
    """Indexes of the calls that a person has approved."""


@dataclass(frozen=True, slots=True)
class _ToolsThat(Container[str]):
    """The tools for which a check returns True, and unknown tools; each is checked when it is looked up."""

    check: Callable[[str, Contract, Terms], bool]
    contracts: Mapping[str, Contract]
    terms: Terms

    def __contains__(self, name: object) -> bool:
        contract = self.contracts.get(str(name))
        return contract is None or self.check(str(name), contract, self.terms)


class Gatekeeper:
    """The permission check of every call, independent of which tools were offered to the model."""

    def __init__(self, tools: Mapping[str, Tool], verifier: Verifier, rule: ApprovalRule) -> None:
        self._contracts = {name: tool.contract for name, tool in tools.items()}
        self._verifier, self._rule = verifier, rule

    async def permissions(self, request: ToolsRequested, session: SessionStore) -> Permissions:
        """Return the permissions of a batch.

        The plan handles unknown tools and calls that the coordinator has refused.
        """
        authorization = self._verifier.verify(
            request.grant, session.session_id, request.tenant, utc_now(), for_undo=UNDO in request.node
        )
        terms = Terms.of(request, authorization, self._rule, self._contracts)
        decisions = await _decisions(request, session)
        refused = {}
        for index, call in enumerate(request.calls):
            if call.refused is None and call.name in self._contracts:
                error = refusal(call, self._contracts[call.name], terms, decisions.get(call.approval))
                if error is not None:
                    refused[index] = error
        approved = frozenset(
            index
            for index, call in enumerate(request.calls)
            if approves(decisions.get(call.approval), call, request.round)
        )
        denied = _ToolsThat(cannot_substitute, self._contracts, terms)
        hidden = _ToolsThat(_is_hidden, self._contracts, terms)
        return Permissions(authorization, refused, denied, hidden, approved)


def _is_hidden(name: str, contract: Contract, terms: Terms) -> bool:
    """Return whether the session must not use a tool in the next round. Approval is asked per call, and hides none."""
    next_round = terms.request.model_copy(update={"round": terms.request.round + 1})
    return permission_error(name, contract, replace(terms, request=next_round)) is not None


async def _decisions(request: ToolsRequested, session: SessionStore) -> dict[str | None, ApprovalDecided]:
    """Return people's decisions on calls of the batch, by their log entry."""
    entries = {call.approval for call in request.calls if call.approval is not None}
    if not entries:
        return {}
    decisions = await asyncio.gather(*(_decision(entry, session) for entry in entries))
    return {
        entry: decision for entry, decision in zip(entries, decisions, strict=True) if decision is not None
    }


async def _decision(entry: str, session: SessionStore) -> ApprovalDecided | None:
    try:
        event = await retry_while_unavailable("read a decision", lambda: session.event(entry))
    except UnreadableEvent:
        return None
    return event.data if isinstance(event.data, ApprovalDecided) else None
