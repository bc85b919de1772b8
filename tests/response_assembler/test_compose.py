"""From the material to the one response."""

from datetime import timedelta
from typing import get_args

import pytest
from antiphon_shared.events import AssemblyRequested, ResponseReady
from antiphon_shared.events.session import Response, Status, TerminationReason, Uncertainty
from antiphon_shared.memory.findings import Findings
from antiphon_shared.memory.layers import Summary
from antiphon_shared.memory.session_memory import Memory
from hypothesis import given, settings
from hypothesis import strategies as st

from response_assembler.compose import compose
from response_assembler.uncertainty import KINDS
from tests.envelopes import START
from tests.memories import hostile_text, memories
from tests.response_assembler.builders import a_document, a_memory, a_reply, a_request, a_use

THE_FACT = a_document("", "the fact", tool="t")
SOURCES = "\n\n**Sources**\n\n1. “the fact” (`t`)"


def answer_to(
    request: AssemblyRequested, text: str | None = None, memory: Memory | None = None, calls: int = 0
) -> ResponseReady:
    known = memory or a_memory(THE_FACT)
    reply = None if text is None else a_reply(text, calls)
    return compose("s1", request, START + timedelta(seconds=2.5), Findings(known, reply))


def kinds(response: Response) -> list[str]:
    return [uncertainty.kind for uncertainty in response.uncertainty]


def test_a_complete_answer_is_the_models_text_and_its_sources() -> None:
    response = answer_to(a_request(), "It is *so* [F1]. \n")
    assert response.answer == "It is *so* [1]." + SOURCES
    assert (response.status, response.uncertainty) == ("complete", ())
    assert [(source.id, source.number) for source in response.sources] == [("F1", 1)]
    assert (response.rounds_used, response.tool_calls_used, response.usage.input_tokens) == (2, 3, 7)
    assert (response.session_id, response.duration_ms) == ("s1", 2500)


def test_a_limited_answer_is_the_models_text_with_the_limit_and_its_sources() -> None:
    response = answer_to(a_request("partial", "max_rounds_reached"), "So far this [F1].")
    assert response.answer == (
        "So far this [1].\n\n---\n\n*This answer may be incomplete: the limit of reasoning rounds was "
        "reached before everything was looked up.*" + SOURCES
    )
    assert kinds(response) == ["max_rounds_reached"]


def test_citations_are_checked_strictly_on_request() -> None:
    response = answer_to(a_request(citations="strict"), "It is so [F1]. And it always has been so.")
    assert "And it always has been so. [no source]" in response.answer
    assert kinds(response) == ["uncited_claims"]


def test_an_empty_reply_becomes_a_partial_answer_from_facts() -> None:
    response = answer_to(a_request(), " \n")
    assert response.status == "partial"
    assert "“the fact” [1]" in response.answer
    assert response.answer.endswith(SOURCES)
    assert kinds(response) == ["empty_reply", "composed_from_facts"]
    assert [(source.id, source.number) for source in response.sources] == [("F1", 1)]


def test_the_note_in_a_reply_is_not_part_of_the_answer() -> None:
    note = "<note>\nopen: Why?\n</note>"
    assert answer_to(a_request(), f"It is so [F1].\n\n{note}").answer == "It is so [1]." + SOURCES
    assert kinds(answer_to(a_request(), note))[0] == "empty_reply"


def test_lost_or_summarized_facts_of_the_memory_are_reported() -> None:
    memory = a_memory(THE_FACT, a_use(facts=("F1",), facts_lost=2), Summary(round=1, text="s", facts=("F1",)))
    assert kinds(answer_to(a_request(), "So [F1].", memory)) == ["memory_full", "summarized"]


def test_an_uncertainty_of_the_request_gets_the_severity_of_its_kind() -> None:
    failed = Uncertainty(kind="model_failed", message="It failed.")
    foreign = Uncertainty(kind="foreign", message="Unheard of.")
    response = answer_to(a_request(uncertainty=(failed, foreign)), "So [F1].")
    assert [uncertainty.severity for uncertainty in response.uncertainty] == ["note", "caution"]


def test_text_next_to_calls_that_never_ran_is_not_an_answer() -> None:
    request = a_request("partial", "token_budget_exhausted")
    assert "the fact" in answer_to(request, "Let me search.", calls=1).answer
    assert answer_to(request, "It is so [F1].", calls=1).answer.startswith("It is so [1].")


def test_a_failed_session_without_facts_stays_failed() -> None:
    response = answer_to(a_request("failed", "internal_error"), memory=a_memory())
    assert response.status == "failed"
    assert response.answer.startswith(
        "You asked: “Why?”\n\nI have no answer, because a part of the pipeline failed"
    )


@pytest.mark.parametrize("has_result", [False, True])
def test_the_answer_names_writes_that_may_have_taken_effect(has_result: bool) -> None:
    """Every answer of the model says so; the coordinator may know of calls without an outcome."""
    memory = a_memory(
        THE_FACT,
        a_use("pay", "outcome_unknown", call_id="c1", arguments={"to": "Anna"}),
        a_use("pay", "outcome_unknown", call_id="c2"),
        a_use("pay", call_id="c3", settles="c2"),
    )
    lost = Uncertainty(
        kind="outcome_unknown", message="Whether `post` took effect is unknown.", about="post c4"
    )
    request = a_request(uncertainty=(lost,), has_result=has_result)
    response = answer_to(request, '{"paid": true}', memory)
    assert (
        "**What may have taken effect**\n\n"
        "- Whether `pay` (to: Anna) took effect is unknown; check before doing it again.\n"
        "- Whether `post` took effect is unknown.\n\n"
    ) in f"{response.answer}\n\n"
    assert "effect" not in answer_to(a_request(), "It is so [F1].").answer


def test_the_coordinators_uncertainties_are_kept_and_repeats_reported_once() -> None:
    uncertainty = Uncertainty(kind="tools_unavailable", message="No `books`.", about="books")
    response = answer_to(a_request(uncertainty=(uncertainty, uncertainty)), "So [F1].")
    assert response.uncertainty == (uncertainty,)


def test_a_clock_that_goes_backwards_gives_no_negative_duration() -> None:
    request = a_request().model_copy(update={"opened": START + timedelta(days=1)})
    assert answer_to(request, "So.").duration_ms == 0


@settings(max_examples=80, deadline=None)
@given(
    memories(),
    st.sampled_from(get_args(Status)),
    st.sampled_from(get_args(TerminationReason)),
    st.one_of(st.none(), hostile_text, st.sampled_from(["[F1]", "[F1, F99]", "[F0-F3]"])),
    st.integers(0, 2),
)
def test_every_request_and_memory_gives_an_answer_with_existing_sources(
    memory: Memory, status: Status, reason: TerminationReason, text: str | None, calls: int
) -> None:
    response = answer_to(a_request(status, reason), text, memory, calls)
    assert response.answer.strip()
    assert {source.id for source in response.sources} <= set(memory.facts)
    assert all(
        KINDS[uncertainty.kind].severity == uncertainty.severity for uncertainty in response.uncertainty
    )
    assert len(set(response.uncertainty)) == len(response.uncertainty)
    assert Response.model_validate_json(response.model_dump_json()).answer == response.answer


EARLIER = a_document("Earlier answer: How long is it?", "It takes six hours.", tool="this conversation")


def test_an_answer_that_cites_an_earlier_one_is_marked() -> None:
    memory = a_memory(EARLIER, a_document("Prices", "It costs 390 EUR.", first=2))
    response = answer_to(a_request(), "Six hours [F1].", memory)
    assert response.answer.endswith(
        "1. **Earlier answer: How long is it?** — “It takes six hours.” (`this conversation`)"
    )
    assert kinds(response) == ["earlier_answer"]
    assert kinds(answer_to(a_request(), "390 EUR [F2].", memory)) == []


def test_an_earlier_answer_is_not_reported_as_found_without_a_model() -> None:
    others = [f"Boat {number} lies in the harbour of Holm." for number in range(40)]
    memory = a_memory(
        EARLIER,
        a_document("Earlier answer: Which boats?", *others, tool="this conversation", first=2),
        query="How long?",
    )
    response = answer_to(a_request("partial", "model_unavailable"), memory=memory)
    assert "**Earlier answer: How long is it?**" in response.answer
    assert "found" not in response.answer
    assert "earlier_answer" in kinds(response)
