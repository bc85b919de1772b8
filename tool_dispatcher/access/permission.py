"""Permission: whether a call may run, and whether its result may be shown. Pure.

Each call is checked where it runs, independent of the tools offered to the model and of the coordinator's
checks. A session's scopes come only from its verified grant: no session, model or tool result can add one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from antiphon_shared.events import ApprovalDecided, ToolsRequested
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import Approval, RequestedCall, ToolError
from antiphon_shared.tools.contract import Contract
from antiphon_shared.tools.placeholders import has_placeholder

from tool_dispatcher.access.grants import Authorization
from tool_dispatcher.authoring.failures import tool_error

_EVERY_TOOL = "*"


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """The operator's rule for which calls need a person's approval."""

    tools: frozenset[str] = frozenset()
    """Names of the tools whose calls all need approval."""
    after_untrusted: bool = False
    """Whether every write needs approval once the session holds content from an untrusted source."""

    @classmethod
    def checked(cls, names: Iterable[str], after_untrusted: bool, tools: Iterable[str]) -> "ApprovalRule":
        """Return the rule with these names; `*` means all `tools`, the operator's: the built-in ones only read.

        Raises ConfigurationError when it names an unknown tool: a mistyped name would guard nothing.
        """
        named, tool_names = frozenset(names), sorted(tools)
        if unknown := sorted(named - {_EVERY_TOOL, *tool_names}):
            raise ConfigurationError(
                f"ANTIPHON_TOOL_DISPATCHER_APPROVAL: tool {' or '.join(map(repr, unknown))} does not exist.",
                hint=did_you_mean(unknown[0], tool_names, "Name modules with tools in ANTIPHON_TOOLS."),
            )
        return cls(frozenset(tool_names) if _EVERY_TOOL in named else named, after_untrusted)

    def of(self, name: str, contract: Contract) -> Approval:
        """Return when calls of a tool need approval by this rule."""
        if name in self.tools:
            return "always"
        return "after_untrusted" if self.after_untrusted and contract.effect == "write" else "never"


@dataclass(frozen=True, slots=True)
class Terms:
    """The facts that each call of a batch is checked against."""

    request: ToolsRequested
    authorization: Authorization
    rule: ApprovalRule
    may_bring_untrusted: bool
    """Whether a tool of this batch may return untrusted content, which other calls may then use."""

    @classmethod
    def of(
        cls,
        request: ToolsRequested,
        authorization: Authorization,
        rule: ApprovalRule,
        contracts: Mapping[str, Contract],
    ) -> "Terms":
        """Return the terms of a batch; `contracts` holds those of all tools, by name."""
        called = [
            contracts[call.name] for call in request.calls if not call.refused and call.name in contracts
        ]
        others = [contracts.get(other.tool) for contract in called for other in contract.alternatives]
        return cls(
            request, authorization, rule, any(one.open_world for one in (*called, *others) if one is not None)
        )


def refusal(
    call: RequestedCall, contract: Contract, terms: Terms, decision: ApprovalDecided | None = None
) -> ToolError | None:
    """Return the error of a call that must neither run nor show its result; None if it may.

    `decision` is the decision in this session's log that `call.approval` points to.
    """
    error = permission_error(call.name, contract, terms)
    has_placeholders = has_placeholder(call.arguments)
    is_deliberate_repetition = call.repeat_of is not None and contract.repeat == "ask"
    if error is not None or not (
        is_deliberate_repetition or _needs_approval(call.name, contract, terms, has_placeholders)
    ):
        return error
    if has_placeholders:
        return _placeholder_refusal(call.name)
    return None if approves(decision, call, terms.request.round) else _unapproved(call.name, decision)


def permission_error(name: str, contract: Contract, terms: Terms) -> ToolError | None:
    """Return the error of a tool that the session must not use in this round, approved or not; None if it may."""
    if name not in terms.request.allowed:
        return tool_error(
            "permission_denied",
            f"{name} is not offered here.",
            "Use one of the tools that are offered, or go on without it.",
        )
    if not terms.request.node and not contract.is_for_round(terms.request.round):  # a run has no rounds
        return _not_in_this_round(name, contract.rounds, terms.request.round)
    if terms.authorization.problem:
        return _denied(f"{name} was not run. {terms.authorization.problem}")
    if missing := sorted(contract.scopes_needed - terms.authorization.scopes):
        needed = f"the scope{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))}"
        return _denied(f"{name} was not run: it needs {needed}, which this session does not have.")
    return None


def cannot_substitute(name: str, contract: Contract, terms: Terms) -> bool:
    """Return whether a tool must not replace another; a substitute cannot be approved, for example."""
    return permission_error(name, contract, terms) is not None or _needs_approval(
        name, contract, terms, has_placeholders=True
    )


def hidden_outcome(refused: ToolError, name: str) -> ToolError:
    """Return the refusal of a call that has already run: it mentions the call, and omits its outcome."""
    return tool_error(
        refused.error_type,
        f"{name} was called earlier, and its result must no longer be shown. Why: {refused.message}",
        "Do not call it again: it may have taken effect. Go on without its result, and say so in the answer.",
    )


def _needs_approval(name: str, contract: Contract, terms: Terms, has_placeholders: bool) -> bool:
    match terms.rule.of(name, contract):
        case "always":
            return True
        case "after_untrusted":
            return terms.request.has_untrusted or (terms.may_bring_untrusted and has_placeholders)
        case "never":
            return False


def approves(decision: ApprovalDecided | None, call: RequestedCall, round: int) -> bool:
    """Return whether a person has approved this call of this round."""
    if decision is None or not decision.is_approved or decision.round != round:
        return False
    return not decision.calls or call.id in decision.calls


def _unapproved(name: str, decision: ApprovalDecided | None) -> ToolError:
    if decision is None:
        return _denied(f"{name} was not run: it needs a person's approval, which was not given.")
    if not decision.is_approved:
        return _denied(f"{name} was not run: a person has denied it.")
    return _denied(f"{name} was not run: its approval is for other calls.")


def _placeholder_refusal(name: str) -> ToolError:
    """Return the refusal of a call with placeholders: a person cannot approve values that do not exist yet."""
    return tool_error(
        "permission_denied",
        f"{name} was not run: a person has to approve it, and must see its arguments.",
        f"Call {name} again in the next reply, with values in place of the placeholders.",
    )


def _not_in_this_round(name: str, rounds: tuple[int, ...], round: int) -> ToolError:
    *others, last = sorted(set(rounds))
    allowed = f"{', '.join(map(str, others))} or {last}" if others else str(last)
    action = f"Call it in round {allowed}, and go on with other tools." if round < last else _GO_ON
    message = f"{name} was not run: it runs only in round {allowed}, and this is round {round}."
    return tool_error("permission_denied", message, action)


def _denied(message: str) -> ToolError:
    """Return a refusal that only a person can lift."""
    return tool_error("permission_denied", message, _NEEDS_PERSON)


_GO_ON = "Go on without it, and say in the answer what could not be done."
_NEEDS_PERSON = (
    "Do not call it again: only a person can change this, and not within this answer. Go on without it, and say "
    "in the answer what could not be done, and why."
)
