"""Calls beyond a session's rights are refused at the tool, in words a model can act on."""

from typing import Any

import pytest
from antiphon_shared.events import ApprovalDecided, ToolsRequested
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import RequestedCall, ToolError
from antiphon_shared.tools.contract import Alternative, Contract

from tests.tool_dispatcher.builders import DEADLINE, a_call
from tool_dispatcher.access.grants import Authorization
from tool_dispatcher.access.permission import (
    ApprovalRule,
    Terms,
    cannot_substitute,
    hidden_outcome,
    permission_error,
    refusal,
)

READ, WRITE = Contract(effect="read"), Contract(effect="write")
WEB = Contract(effect="read", open_world=True)
EVERYTHING = Authorization(frozenset({"read", "write", "crm.contacts", "crm.delete"}))
ALL_AFTER_UNTRUSTED = ApprovalRule(after_untrusted=True)
CONTRACTS = {"look": READ, "send": WRITE, "fetch": WEB}
FROM_ANOTHER = {"text": "${calls[0].text}"}


def a_request(*calls: RequestedCall, round: int = 1, **fields: Any) -> ToolsRequested:
    given: dict[str, Any] = {"allowed": ("look", "send", "fetch"), "deadline": DEADLINE, **fields}
    return ToolsRequested(round=round, calls=calls or (a_call(name="send"),), **given)


def terms(
    request: ToolsRequested | None = None,
    authorization: Authorization = EVERYTHING,
    rule: ApprovalRule | None = None,
    **contracts: Contract,
) -> Terms:
    return Terms.of(request or a_request(), authorization, rule or ApprovalRule(), {**CONTRACTS, **contracts})


def approved(round: int = 1, is_approved: bool = True, calls: tuple[str, ...] = ()) -> ApprovalDecided:
    return ApprovalDecided(round=round, is_approved=is_approved, calls=calls, by="Ann")


def denied(error: ToolError | None) -> ToolError:
    """Check that a refusal has its type, names the tool, and gives advice."""
    assert error is not None
    assert error.error_type == "permission_denied"
    assert error.message.startswith(("send ", "look "))
    assert error.suggested_action.endswith(".")
    return error


def test_a_call_within_its_scopes_may_run() -> None:
    assert refusal(a_call(name="look"), READ, terms(authorization=Authorization(frozenset({"read"})))) is None
    assert refusal(a_call(name="send"), WRITE, terms()) is None


def test_a_write_needs_the_scope_write() -> None:
    error = denied(
        refusal(a_call(name="send"), WRITE, terms(authorization=Authorization(frozenset({"read"}))))
    )
    assert error.message == "send was not run: it needs the scope 'write', which this session does not have."
    assert "only a person can change this" in error.suggested_action
    assert "Go on without it, and say in the answer what could not be done" in error.suggested_action


def test_the_scope_write_does_not_hold_the_scope_read() -> None:
    denied(refusal(a_call(name="look"), READ, terms(authorization=Authorization(frozenset({"write"})))))


def test_every_scope_that_is_missing_is_named() -> None:
    contract = Contract(effect="write", scopes=("crm.delete", "crm.contacts"))
    authorization = Authorization(frozenset({"read", "write"}))
    message = denied(refusal(a_call(name="send"), contract, terms(authorization=authorization))).message
    assert "the scopes 'crm.contacts', 'crm.delete'," in message
    assert refusal(a_call(name="send"), contract, terms()) is None


def test_an_invalid_grant_gives_its_reason() -> None:
    authorization = Authorization(problem="The session's grant ended at 2026-11-21 12:00:00 UTC.")
    error = denied(refusal(a_call(name="look"), READ, terms(authorization=authorization)))
    assert error.message == "look was not run. The session's grant ended at 2026-11-21 12:00:00 UTC."


def test_a_problem_outweighs_every_scope() -> None:
    denied(
        refusal(
            a_call(name="look"),
            READ,
            terms(authorization=Authorization(EVERYTHING.scopes, "The clock is off.")),
        )
    )


def test_a_tool_outside_the_offer_is_refused_despite_its_scopes() -> None:
    error = denied(refusal(a_call(name="send"), WRITE, terms(a_request(allowed=("look",)))))
    assert error.message == "send is not offered here."
    denied(refusal(a_call(name="send"), WRITE, terms(a_request(allowed=()))))


@pytest.mark.parametrize(
    ("rounds", "round", "message", "action"),
    [
        ((1, 2), 3, "it runs only in round 1 or 2, and this is round 3.", "Go on without it"),
        ((2,), 1, "it runs only in round 2, and this is round 1.", "Call it in round 2"),
        ((5, 3, 1), 4, "it runs only in round 1, 3 or 5, and this is round 4.", "Call it in round 1, 3 or 5"),
    ],
)
def test_a_tool_of_other_rounds_is_refused(
    rounds: tuple[int, ...], round: int, message: str, action: str
) -> None:
    contract = Contract(effect="read", rounds=rounds)
    error = denied(refusal(a_call(name="look"), contract, terms(a_request(round=round))))
    assert error.message == f"look was not run: {message}"
    assert error.suggested_action.startswith(action)
    assert refusal(a_call(name="look"), contract, terms(a_request(round=rounds[0]))) is None


@pytest.mark.parametrize("named", [["look"], ["*"], ["send", "*"]])
def test_a_tool_the_operator_named_needs_a_person_each_time(named: list[str]) -> None:
    rule = ApprovalRule.checked(named, False, ["look", "send"])
    error = denied(refusal(a_call(name="look"), READ, terms(rule=rule)))
    assert error.message == "look was not run: it needs a person's approval, which was not given."
    assert refusal(a_call(name="look"), READ, terms(rule=rule), approved()) is None


def test_a_tool_that_the_operator_did_not_name_needs_no_approval() -> None:
    assert refusal(a_call(name="send"), WRITE, terms(rule=ApprovalRule(frozenset({"look"})))) is None


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (approved(is_approved=False), "denied"),
        (approved(is_approved=False, calls=("c1",)), "denied"),
        (approved(round=2), "for other calls"),
        (approved(calls=("c2", "c3")), "for other calls"),
    ],
)
def test_an_approval_of_something_else_approves_nothing(decision: ApprovalDecided, message: str) -> None:
    rule = ApprovalRule(frozenset({"send"}))
    assert message in denied(refusal(a_call(name="send"), WRITE, terms(rule=rule), decision)).message


def test_an_approval_may_name_its_calls() -> None:
    rule = ApprovalRule(frozenset({"send"}))
    assert refusal(a_call(name="send"), WRITE, terms(rule=rule), approved(calls=("c0", "c1"))) is None


def test_a_call_that_claims_an_approval_which_is_not_in_the_log_is_refused() -> None:
    rule = ApprovalRule(frozenset({"send"}))
    denied(refusal(a_call(name="send", approval="1-0"), WRITE, terms(rule=rule), None))


def test_an_approval_is_not_a_scope() -> None:
    """A person who approves a call does not widen the grant."""
    rule = ApprovalRule(frozenset({"send"}))
    authorization = Authorization(frozenset({"read"}))
    assert (
        "scope 'write'"
        in denied(refusal(a_call(name="send"), WRITE, terms(None, authorization, rule), approved())).message
    )


def test_writes_need_approval_after_untrusted_content() -> None:
    after = terms(a_request(has_untrusted=True), rule=ALL_AFTER_UNTRUSTED)
    denied(refusal(a_call(name="send"), WRITE, after))
    assert refusal(a_call(name="send"), WRITE, after, approved()) is None
    assert refusal(a_call(name="look"), READ, after) is None


def test_writes_need_no_approval_before_untrusted_content_or_without_the_rule() -> None:
    assert refusal(a_call(name="send"), WRITE, terms(rule=ALL_AFTER_UNTRUSTED)) is None
    assert refusal(a_call(name="send"), WRITE, terms(a_request(has_untrusted=True))) is None


def test_untrusted_content_of_the_same_batch_counts_where_it_can_flow_into_the_write() -> None:
    fetch = a_call("c1", "fetch")
    fed, apart = (
        a_call("c2", "send", arguments=FROM_ANOTHER),
        a_call("c3", "send", arguments={"text": "Hello"}),
    )
    flowing = terms(a_request(fetch, fed, apart), rule=ALL_AFTER_UNTRUSTED)
    denied(refusal(fed, WRITE, flowing))
    assert refusal(apart, WRITE, flowing) is None
    assert refusal(fed, WRITE, terms(a_request(a_call("c1", "look"), fed), rule=ALL_AFTER_UNTRUSTED)) is None


def test_a_tool_may_bring_untrusted_content_through_its_alternative() -> None:
    backed = Contract(effect="read", alternatives=(Alternative(tool="fetch"),))
    fed = a_call("c2", "send", arguments=FROM_ANOTHER)
    denied(
        refusal(
            fed, WRITE, terms(a_request(a_call("c1", "look"), fed), rule=ALL_AFTER_UNTRUSTED, look=backed)
        )
    )


def test_a_call_that_will_not_run_returns_nothing_untrusted() -> None:
    fed = a_call("c2", "send", arguments=FROM_ANOTHER)
    request = a_request(a_call("c1", "fetch", refused="the limit is reached"), a_call("c3", "gone"), fed)
    assert refusal(fed, WRITE, terms(request, rule=ALL_AFTER_UNTRUSTED)) is None


def test_a_tool_that_needs_approval_never_replaces_another() -> None:
    """The approval of one tool does not cover another."""
    assert cannot_substitute("send", WRITE, terms(rule=ApprovalRule(frozenset({"send"}))))
    assert cannot_substitute("send", WRITE, terms(a_request(has_untrusted=True), rule=ALL_AFTER_UNTRUSTED))
    assert cannot_substitute("send", WRITE, terms(a_request(a_call(name="fetch")), rule=ALL_AFTER_UNTRUSTED))
    assert cannot_substitute("send", WRITE, terms(authorization=Authorization(frozenset({"read"}))))
    assert cannot_substitute("send", WRITE, terms(a_request(allowed=("look",))))
    assert not cannot_substitute("send", WRITE, terms(rule=ALL_AFTER_UNTRUSTED))


def test_leave_to_use_a_tool_does_not_look_at_approvals() -> None:
    rule = ApprovalRule(frozenset({"send"}))
    assert permission_error("send", WRITE, terms(rule=rule)) is None
    denied(permission_error("send", WRITE, terms(authorization=Authorization(), rule=rule)))


def test_a_result_that_must_no_longer_be_shown_still_states_that_the_call_was_made() -> None:
    refused = denied(
        refusal(a_call(name="send"), WRITE, terms(authorization=Authorization(problem="The grant ended.")))
    )
    error = denied(hidden_outcome(refused, "send"))
    assert "was called earlier" in error.message
    assert "The grant ended." in error.message
    assert error.suggested_action.startswith("Do not call it again: it may have taken effect.")


def test_the_approval_rule_is_resolved_for_each_tool() -> None:
    rule = ApprovalRule(frozenset({"look"}), after_untrusted=True)
    assert rule.of("look", READ) == "always"
    assert rule.of("fetch", READ) == "never"
    assert rule.of("send", WRITE) == "after_untrusted"
    assert ApprovalRule().of("send", WRITE) == "never"


def test_a_rule_for_an_unknown_tool_is_refused() -> None:
    """A slip of the pen would leave the tool unguarded."""
    with pytest.raises(
        ConfigurationError,
        match=r"ANTIPHON_TOOL_DISPATCHER_APPROVAL: .* 'sned' does not exist\. Did you mean send",
    ):
        ApprovalRule.checked(["sned", "look"], False, ["send", "look"])
