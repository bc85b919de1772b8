"""The calibration of a briefing's size, and the uncertainty about evidence that was left out."""

from antiphon_shared.events import (
    BriefingRequested,
    DeadlineReached,
    ReasoningRequested,
)
from antiphon_shared.values import Usage

from coordinator.decision import Decision
from coordinator.session_parts import replace
from tests.coordinator.builders import (
    a_briefing,
    a_reply,
    an_opened_session,
    answered,
    ending,
    met,
    only,
    some_results,
)


class TestCalibration:
    """The model counts other tokens than we estimate; the session learns by how much."""

    def after(self, *replies: tuple[int, Usage]) -> BriefingRequested:
        """Return the briefing request after rounds with these estimated and counted tokens."""
        session = an_opened_session(max_rounds=9).session
        for estimated, usage in replies:
            reasoning = answered(session, a_briefing(session.round)).session
            reply = a_reply(calls=1, round=session.round, usage=usage, prompt_tokens_estimated=estimated)
            decision = answered(answered(reasoning, reply).session, some_results(round=session.round))
            session = decision.session
        return only(decision, BriefingRequested)

    def test_the_synthesizer_receives_the_ratio_of_actual_to_estimated_tokens(self) -> None:
        cached = Usage(input_tokens=100, cache_read_tokens=900, cache_write_tokens=300, output_tokens=50)
        assert self.after((1_000, cached)).tokens_per_estimated == 1.3
        assert self.after((1_000, cached), (2_000, Usage(input_tokens=2_000))).tokens_per_estimated == 1.1
        assert self.after((3_000, Usage(input_tokens=1_999))).tokens_per_estimated == 0.666

    def test_a_usage_without_a_comparable_estimate_calibrates_nothing(self) -> None:
        assert an_opened_session().session.spent.tokens_counted == 0
        assert self.after((0, Usage(input_tokens=9_000))).tokens_per_estimated == 1.0
        assert self.after((1_000, Usage())).tokens_per_estimated == 1.0
        assert self.after((1_000, Usage(output_tokens=10))).tokens_per_estimated == 1.0

    def test_a_count_that_cannot_be_right_is_believed_within_bounds(self) -> None:
        assert self.after((1_000, Usage(input_tokens=1))).tokens_per_estimated == 0.5
        assert self.after((1, Usage(input_tokens=1_000))).tokens_per_estimated == 3.0

    def test_the_budget_is_compared_with_the_calibrated_estimate(self) -> None:
        session = an_opened_session(max_tokens=10_000).session
        doubled = replace(session, spent=replace(session.spent, tokens_estimated=1_000, tokens_counted=2_000))
        assert only(answered(session, a_briefing(tokens=3_000)), ReasoningRequested).tools
        assert not only(answered(doubled, a_briefing(tokens=3_000)), ReasoningRequested).tools
        assert answered(session, a_briefing(tokens=5_000)).session.phase == "reasoning"
        assert ending(answered(doubled, a_briefing(tokens=5_000))).termination_reason == (
            "token_budget_exhausted"
        )


class TestEvidenceLeftOut:
    def uncertainties(self, decision: Decision) -> list[tuple[str, str]]:
        return [(uncertainty.kind, uncertainty.message) for uncertainty in ending(decision).uncertainty]

    def test_relevant_facts_that_were_left_out_are_reported_at_the_end(self) -> None:
        session = answered(an_opened_session().session, a_briefing(missed=("F12", "F30", "F31"))).session
        message = "3 facts close to the question did not fit into the last briefing: F12, F30, F31."
        for decision in (answered(session, a_reply()), met(session, DeadlineReached())):
            assert self.uncertainties(decision) == [("evidence_left_out", message)]

    def test_one_left_out_fact_is_named_alone_and_of_many_the_first_ones(self) -> None:
        one = answered(an_opened_session().session, a_briefing(missed=("F7",))).session
        assert self.uncertainties(answered(one, a_reply())) == [
            ("evidence_left_out", "1 fact close to the question did not fit into the last briefing: F7.")
        ]
        many = a_briefing(missed=tuple(f"F{n}" for n in range(1, 13)))
        ((_, message),) = self.uncertainties(
            answered(answered(an_opened_session().session, many).session, a_reply())
        )
        assert message.endswith(" F9, F10 and 2 more.")

    def test_only_the_newest_briefing_counts(self) -> None:
        first = answered(an_opened_session().session, a_briefing(missed=("F1",))).session
        batch = answered(first, a_reply(calls=1)).session
        second = answered(answered(batch, some_results()).session, a_briefing(2)).session
        assert self.uncertainties(answered(second, a_reply(round=2))) == []
