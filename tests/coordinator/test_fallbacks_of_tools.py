"""The fallback steps for tools, for cost and for writes whose outcome is unknown."""

from typing import Any

from antiphon_shared.breakers.outages import Outages
from antiphon_shared.events import (
    ComponentFailed,
    ReasoningRequested,
    ToolsRequested,
)
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import Alternative
from antiphon_shared.values import Usage

from coordinator.session import Session
from coordinator.session_parts import replace
from tests.coordinator.builders import (
    a_briefing,
    a_call,
    a_catalogue,
    a_reply,
    a_result,
    a_tool,
    an_opened_session,
    answered,
    ending,
    fallback_steps,
    met,
    only,
    some_results,
    the_results,
)
from tests.coordinator.fallbacks import asked, kinds


class TestToolsThatFail:
    def test_the_model_is_notified_once_of_failed_and_remaining_tools(self) -> None:
        catalogue = a_catalogue("outline", "search")
        session = answered(an_opened_session(catalogue).session, a_briefing(), catalogue).session
        calls = [a_call("search"), a_call("outline")]
        session = answered(session, a_reply(calls=calls), catalogue).session
        error = ToolError(error_type="timeout", message="Late.", suggested_action="Wait.")
        results = [a_result(name, status="error", error=error) for name in ("search", "outline")]
        failed = answered(session, the_results(*results), catalogue)
        assert fallback_steps(failed) == ["tools_failed"]
        request = only(answered(failed.session, a_briefing(2), catalogue), ReasoningRequested)
        assert "search (timeout), outline (timeout)" in request.notice
        assert "There are still outline, search." in request.notice
        assert request.tools == ("outline", "search")

    def test_a_second_round_of_failures_is_answered_without_tools(self) -> None:
        session = an_opened_session(max_rounds=9).session
        for round in (1, 2):
            session = answered(asked(session).session, a_reply(calls=1, round=round)).session
            session = answered(session, some_results(status="error", round=round)).session
        decision = asked(session)
        request = only(decision, ReasoningRequested)
        assert (request.tools, request.notice) == ((), "")
        assert fallback_steps(decision) == ["answer_without_tools"]

    def test_a_success_in_between_makes_good(self) -> None:
        session = an_opened_session(max_rounds=9).session
        for round, status in enumerate(("error", "ok", "error"), start=1):
            session = answered(asked(session).session, a_reply(calls=1, round=round)).session
            session = answered(session, some_results(status=status, round=round)).session
        assert only(asked(session), ReasoningRequested).tools

    def test_an_unavailable_tool_is_replaced_by_its_alternative_in_the_offer(self) -> None:
        many = [f"tool_{n:02}" for n in range(31)]
        search = a_tool("search", description="why", alternatives=[Alternative(tool="tool_30").model_dump()])
        catalogue = a_catalogue(search, *many)
        session = an_opened_session(catalogue).session
        assert session.tools.offer is not None
        assert "search" in session.tools.offer
        assert "tool_30" not in session.tools.offer
        decision = answered(session, a_briefing(), catalogue, outages=Outages(tools=("search",)))
        request = only(decision, ReasoningRequested)
        assert "search" not in request.tools
        assert "tool_30" in request.tools
        (uncertainty,) = decision.session.uncertainty
        assert uncertainty.message == (
            "`search` was unavailable and was not offered; `tool_30` could be used instead."
        )

    def test_a_call_of_an_unavailable_tool_is_left_to_the_dispatcher(self) -> None:
        session = asked(an_opened_session(a_catalogue("fetch", "search")).session).session
        session = replace(session, models=replace(session.models, outages=Outages(tools=("search",))))
        request = only(answered(session, a_reply(calls=1)), ToolsRequested)
        assert "search" in request.allowed

    def test_tools_for_other_rounds_are_not_out_of_order(self) -> None:
        catalogue = a_catalogue(a_tool("search"), a_tool("sum_up", rounds=[3]))
        decision = asked(an_opened_session(a_catalogue(a_tool("sum_up", rounds=[3]))).session)
        assert only(decision, ReasoningRequested).last_round_because == ""
        session = an_opened_session(catalogue, interactive=True).session
        decision = answered(session, a_briefing(), catalogue, outages=Outages(tools=("search",)))
        assert only(decision, ReasoningRequested).last_round_because.startswith("Every tool is unavailable")

    def test_the_model_answers_at_once_when_every_tool_is_unavailable(self) -> None:
        decision = asked(an_opened_session().session, tools_out=("search",))
        request = only(decision, ReasoningRequested)
        assert (request.tools, request.last_round_because) == (
            (),
            "Every tool is unavailable at the moment.",
        )
        assert ending(answered(decision.session, a_reply())).termination_reason == "all_tools_failed"


class TestCost:
    def a_session(self, spent_usd: float | None, **options: Any) -> Session:
        session = asked(an_opened_session(**options).session).session
        usage = Usage(input_tokens=1_000, cost_usd=spent_usd)
        session = answered(session, a_reply(calls=1, usage=usage)).session
        return answered(session, some_results()).session

    def test_a_spent_budget_ends_in_a_partial_answer(self) -> None:
        request = ending(asked(self.a_session(1.0, max_cost_usd=1.0)))
        assert (request.status, request.termination_reason) == ("partial", "cost_budget_exhausted")

    def test_a_budget_that_is_nearly_spent_leaves_one_round_without_tools(self) -> None:
        """2,200 tokens of a round, at a thousandth of a dollar each, are more than is left."""
        request = only(asked(self.a_session(1.0, max_cost_usd=2.0)), ReasoningRequested)
        assert request.last_round_because == "The session's cost budget is nearly spent."
        assert only(asked(self.a_session(1.0, max_cost_usd=9.0)), ReasoningRequested).tools

    def test_an_unknown_cost_limits_nothing_and_is_reported(self) -> None:
        session = self.a_session(None, max_cost_usd=0.01)
        reasoning = asked(session).session
        assert "cost_unknown" in [
            one.kind for one in ending(answered(reasoning, a_reply(round=2))).uncertainty
        ]


class TestWritesInDoubt:
    CATALOGUE = a_catalogue(a_tool("book", "write"), "search")

    def a_batch(self) -> Session:
        session = answered(an_opened_session(self.CATALOGUE).session, a_briefing(), self.CATALOGUE).session
        calls = [a_call("book"), a_call("search")]
        return answered(session, a_reply(calls=calls), self.CATALOGUE).session

    def test_a_write_has_an_unknown_outcome_until_its_result_arrives(self) -> None:
        batch = self.a_batch()
        assert batch.writes.in_doubt == ("book call_book",)
        assert (
            answered(batch, the_results(a_result("book"), a_result("search"))).session.writes.in_doubt == ()
        )

    def test_an_unknown_outcome_of_a_write_stays_unresolved(self) -> None:
        error = ToolError(error_type="outcome_unknown", message="?", suggested_action="Check.")
        unknown = a_result("book", status="error", error=error)
        session = answered(self.a_batch(), the_results(unknown, a_result("search"))).session
        assert session.writes.in_doubt == ("book call_book",)
        read = a_result("search", status="error", error=error)
        session = answered(self.a_batch(), the_results(a_result("book"), read)).session
        assert session.writes.in_doubt == ("search call_search",), "its alternative may have written"

    def test_a_dead_lettered_batch_leaves_its_writes_unresolved(self) -> None:
        batch = self.a_batch()
        assert batch.pending_request is not None
        lost = ComponentFailed(
            component="tool_dispatcher",
            failed_event=batch.pending_request,
            error=ErrorInfo(code="workers_lost", message="gone"),
        )
        decision = met(batch, lost)
        assert "outcome_unknown" in kinds(decision.session)
        assert fallback_steps(decision) == ["tools_failed"]
