"""The changes of one assembly.requested, also with a damaged record."""

from datetime import timedelta

from antiphon_shared.bus.handling import MEMORY, NOTHING, RESPONSE, Delivery, Outcome, PutDocument
from antiphon_shared.events import AssemblyRequested, EventData, QuerySubmitted, ResponseReady
from antiphon_shared.events.session import Response
from antiphon_shared.events.step_records import AssemblyRecord
from antiphon_shared.formats import FORMAT
from antiphon_shared.memory.filing import file_round
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.tools.journal import begun_entry, journal_name, outcome_entry, write_outcome

from response_assembler.handlers import on_assembly_requested
from tests.envelopes import START, an_event
from tests.fakes import FakeSession
from tests.memories import a_round
from tests.response_assembler.builders import a_reply, a_request
from tests.response_assembler.test_compose import kinds

REASONING, RESULTS = a_round(("search", {"q": "x"}, "the fact"), ("book", {}, "booked"))


def a_session() -> FakeSession:
    known: dict[str, EventData] = {
        "1-0": QuerySubmitted(query="Why?"),
        "2-0": REASONING,
        "3-0": RESULTS,
        "4-0": a_reply("It is so [F1]."),
    }
    return FakeSession(log={entry: an_event(data) for entry, data in known.items()})


async def answer_to(session: FakeSession, request: AssemblyRequested) -> Response:
    outcome: Outcome = await on_assembly_requested(Delivery(an_event(request, at_s=2.5), "9-0"), session)
    (response,), (write,) = outcome.events, outcome.writes
    assert isinstance(response, ResponseReady)
    assert isinstance(write, PutDocument)
    assert (write.document, write.version) == (RESPONSE, 0)
    stored = Response.model_validate_json(write.content)
    assert stored.model_dump() == response.model_dump()
    return stored


async def test_the_answer_uses_the_memory_the_reply_and_unfiled_results() -> None:
    response = await answer_to(a_session(), a_request(reply="4-0", reasoning="2-0", results="3-0"))
    assert response.answer.startswith("It is so [1].\n\n**Sources**\n\n1. ")
    assert [(source.id, source.excerpt) for source in response.sources] == [("F1", "the fact")]
    assert response.uncertainty == ()
    assert response.duration_ms == 2500


async def test_the_duration_of_an_answer_ends_when_it_is_composed() -> None:
    request = an_event(a_request(reply="4-0"), at_s=2.5)
    late = await on_assembly_requested(
        Delivery(request, "9-0"), a_session(), lambda: START + timedelta(seconds=40)
    )
    (response,) = late.events
    assert isinstance(response, ResponseReady)
    assert response.duration_ms == 40_000
    assert isinstance(late.record, AssemblyRecord)
    assert late.record.waited_ms == 37_500
    soon = await on_assembly_requested(
        Delivery(request, "9-0"), a_session(), lambda: START + timedelta(seconds=3)
    )
    assert isinstance(soon.record, AssemblyRecord)
    assert soon.record.waited_ms == 0


async def test_results_already_in_memory_are_not_filed_again() -> None:
    session = a_session()
    session.lists[MEMORY] = [file_round(Memory(), REASONING, RESULTS).model_dump_json().encode()]
    request = a_request("partial", "deadline_exceeded", reasoning="2-0", results="3-0")
    response = await answer_to(session, request)
    assert [source.id for source in response.sources] == ["F1", "F2"]


async def test_an_answered_session_gets_no_second_answer() -> None:
    session = a_session()
    session.documents[RESPONSE] = (1, b"{}")
    assert await on_assembly_requested(Delivery(an_event(a_request()), "9-0"), session) is NOTHING


async def test_a_batch_in_flight_reports_its_settled_calls_and_names_the_others() -> None:
    session = a_session()
    session.journals[journal_name(1)] = {
        outcome_entry("toolu_10"): write_outcome(RESULTS.results[0], FORMAT),
        "x": b"no JSON",
    }
    request = a_request("partial", "deadline_exceeded", reasoning="2-0", batch=1)
    response = await answer_to(session, request)
    assert "“the fact” [1]" in response.answer
    assert "`book` had not finished" in response.answer
    assert [
        uncertainty.about for uncertainty in response.uncertainty if uncertainty.kind == "call_unfinished"
    ] == ["book toolu_11"]


async def test_a_write_that_had_only_begun_has_an_unknown_outcome() -> None:
    session = a_session()
    session.journals[journal_name(1)] = {begun_entry("toolu_11"): b"1"}
    response = await answer_to(session, a_request("cancelled", "cancelled", reasoning="2-0", batch=1))
    assert kinds(response) == ["cancelled", "outcome_unknown", "call_unfinished"]
    assert "Whether `book` took effect is unknown" in response.answer


async def test_a_batch_with_unknown_calls_still_reports_its_settled_results() -> None:
    session = a_session()
    session.journals[journal_name(1)] = {outcome_entry("toolu_10"): write_outcome(RESULTS.results[0], FORMAT)}
    response = await answer_to(session, a_request("partial", "internal_error", batch=1))
    assert [source.id for source in response.sources] == ["F1"]


async def test_an_incomplete_record_gives_an_answer_that_reports_the_gaps() -> None:
    session = a_session()
    session.lists[MEMORY] = [b"no JSON"]
    request = a_request("partial", "max_rounds_reached", reply="8-0", reasoning="3-0", results="2-0")
    request = request.model_copy(update={"question": "7-0"})
    response = await answer_to(session, request)
    missing = [
        uncertainty.about for uncertainty in response.uncertainty if uncertainty.kind == "record_missing"
    ]
    assert sorted(missing) == ["2-0", "3-0", "7-0", "8-0", "memory of filing 1"]
    assert response.status == "partial"
    assert response.answer.startswith("I have no answer")
    assert kinds(response)[0] == "max_rounds_reached"
