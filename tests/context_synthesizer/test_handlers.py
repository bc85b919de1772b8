"""The changes and reads of one briefing.requested."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from antiphon_shared.bus.handling import (
    BRIEFING,
    MEMORY,
    TO_SUMMARIZE,
    VECTORS,
    Append,
    Delivery,
    Outcome,
    PutDocument,
)
from antiphon_shared.events import BriefingReady, BriefingRequested, QuerySubmitted, SummaryCompleted
from antiphon_shared.memory.briefing import digest_of, ids_in
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.process.errors import UnreadableEvent
from structlog.testing import capture_logs

from context_synthesizer.embeddings import Embeddings
from context_synthesizer.handlers import ContextSynthesizer
from context_synthesizer.settings import ContextSynthesizerSettings
from tests.context_synthesizer.builders import a_search
from tests.envelopes import an_event
from tests.fakes import FakeSession
from tests.memories import Call, a_round


@dataclass
class CountingSession(FakeSession):
    """Counts the items of the memory that were read."""

    items_read: list[int] = field(default_factory=list)

    async def items(self, name: str, start: int = 0) -> list[bytes]:
        found = await super().items(name, start)
        self.items_read.append(len(found))
        return found


def a_session(query: str = "Which courses teach MCP?") -> CountingSession:
    return CountingSession(log={"1-0": an_event(QuerySubmitted(query=query))})


def a_synthesizer(**settings: Any) -> ContextSynthesizer:
    return ContextSynthesizer(ContextSynthesizerSettings(**settings))


def log_round(session: FakeSession, number: int, *calls: Call, text: str = "I look it up.") -> dict[str, Any]:
    """Put a round into the log; return the fields by which the next request names it."""
    reasoning, results = a_round(*calls, round=number, text=text)
    session.log |= {f"{number}-1": an_event(reasoning), f"{number}-2": an_event(results)}
    return {"round": number + 1, "reasoning": f"{number}-1", "results": f"{number}-2"}


def a_course(number: int, words: str = "is held in the old house by the harbour") -> Call:
    return a_search("courses", (f"Course {number}", f"Course number {number} on MCP {words}."))


async def handle(synthesizer: ContextSynthesizer, session: FakeSession, **fields: Any) -> Outcome:
    request = BriefingRequested(**{"round": 2, "max_rounds": 40, "question": "1-0", **fields})
    return await synthesizer.on_briefing_requested(Delivery(an_event(request), "9-0"), session)


def commit(session: FakeSession, outcome: Outcome) -> None:
    for write in outcome.writes:
        if isinstance(write, Append):
            items = session.lists.setdefault(write.document, [])
            assert write.length in (None, len(items)), "the list has another length than when it was read"
            items.append(write.item)


async def committed(synthesizer: ContextSynthesizer, session: FakeSession, **fields: Any) -> Outcome:
    outcome = await handle(synthesizer, session, **fields)
    commit(session, outcome)
    return outcome


def ready(outcome: Outcome) -> BriefingReady:
    (event,) = outcome.events
    assert isinstance(event, BriefingReady)
    return event


def documents(outcome: Outcome) -> dict[str, str]:
    return {
        write.document: write.content.decode() for write in outcome.writes if isinstance(write, PutDocument)
    }


def the_briefing(outcome: Outcome) -> str:
    text = documents(outcome)[BRIEFING]
    assert ready(outcome).briefing.digest == digest_of(text)
    return text


def filed(outcome: Outcome) -> list[Append]:
    return [write for write in outcome.writes if isinstance(write, Append)]


async def test_the_last_round_is_filed_as_one_delta_and_shown() -> None:
    session = a_session()
    outcome = await handle(a_synthesizer(), session, **log_round(session, 1, a_course(1), a_course(2)))
    (write,) = filed(outcome)
    assert (write.document, write.length) == (MEMORY, 0)
    delta = MemoryDelta.model_validate_json(write.item)
    assert [fact.id for fact in delta.facts] == ["F1", "F2"]
    assert {use.results for use in delta.tool_usage} == {"1-2"}
    assert ready(outcome).round == 2
    assert '- round 1: search {"query": "courses"} -> ok: F1' in the_briefing(outcome)


async def test_a_round_without_anything_to_file_appends_nothing() -> None:
    outcome = await handle(a_synthesizer(), a_session())
    assert filed(outcome) == []
    assert the_briefing(outcome) == "# Question\nWhich courses teach MCP?\n\n# Now\nRound 2 of at most 40."


async def test_a_round_requested_again_is_not_filed_twice() -> None:
    session, synthesizer = a_session(), a_synthesizer()
    asked = log_round(session, 1, a_course(1))
    first = await committed(synthesizer, session, **asked)
    again = await committed(synthesizer, session, **asked)
    assert filed(again) == []
    assert again.events == first.events


async def test_a_cached_index_reads_only_new_items() -> None:
    session, synthesizer = a_session(), a_synthesizer()
    for number in range(1, 7):
        await committed(synthesizer, session, **log_round(session, number, a_course(number)))
    assert session.items_read == [0, 1, 1, 1, 1, 1], "the last one it holds, to compare"


async def test_a_cached_index_and_a_new_worker_give_the_same_briefing() -> None:
    session, synthesizer = a_session(), a_synthesizer()
    for number in range(1, 6):
        asked = log_round(session, number, *(a_course(10 * number + n) for n in range(5)))
        other = await handle(a_synthesizer(), session, **asked)
        ours = await committed(synthesizer, session, **asked)
        assert (other.events, other.writes) == (ours.events, ours.writes)


async def test_a_round_whose_commit_failed_is_filed_again() -> None:
    session, synthesizer = a_session(), a_synthesizer()
    await committed(synthesizer, session, **log_round(session, 1, a_course(1)))
    asked = log_round(session, 2, a_course(2))
    lost = await handle(synthesizer, session, **asked)
    again = await committed(synthesizer, session, **asked)
    assert filed(again) == filed(lost)
    assert again.events == lost.events


async def test_a_filing_of_another_worker_replaces_our_uncommitted_one() -> None:
    session, synthesizer = a_session(), a_synthesizer()
    await committed(synthesizer, session, **log_round(session, 1, a_course(1)))
    await handle(synthesizer, session, **log_round(session, 2, a_course(2)))
    theirs = log_round(session, 2, a_course(3))
    await committed(a_synthesizer(), session, **theirs)
    outcome = await committed(synthesizer, session, **log_round(session, 3, a_course(4)))
    assert "Course number 3" in the_briefing(outcome)
    assert "Course number 2" not in the_briefing(outcome)


async def test_a_full_memory_keeps_the_facts_that_fit_and_reports_the_rest() -> None:
    session, synthesizer = a_session(), a_synthesizer(memory_bytes_max=10_000)
    for number in (1, 2):
        rounds = (
            (f"Course {number}.{n}", f"Course number {number}.{n} on MCP is held here.") for n in range(60)
        )
        outcome = await committed(
            synthesizer, session, **log_round(session, number, a_search("courses", *rounds))
        )
        (use,) = MemoryDelta.model_validate_json(filed(outcome)[0].item).tool_usage
        assert use.facts_lost > 0
        assert f"{use.facts_lost} of its 60 facts not kept: the session's memory is full" in the_briefing(
            outcome
        )
        assert sum(map(len, session.lists[MEMORY])) <= 10_000 + 500 * number, (
            "the tried calls are always kept"
        )


async def test_untrusted_calls_are_marked() -> None:
    session = a_session()
    asked = log_round(
        session, 1, a_course(1), ("read", {"page": "x"}, "A page that anybody may have written.")
    )
    outcome = await handle(a_synthesizer(), session, **asked, untrusted=("toolu_11",))
    text = the_briefing(outcome)
    assert 'tool="read" round="1" trust="untrusted">\nF2 A page' in text
    assert 'tool="search" round="1" trust="tool">' in text


async def test_a_token_count_above_the_estimate_shortens_briefings() -> None:
    session, synthesizer = a_session(), a_synthesizer(briefing_tokens=3_000)
    courses = [a_search("courses", *((f"C {n}.{m}", f"Course {n}.{m} on MCP is held here.") for m in range(99)))
               for n in range(3)]  # fmt: skip
    await committed(synthesizer, session, **log_round(session, 1, *courses))
    tokens = [
        ready(await handle(synthesizer, session, tokens_per_estimated=counted)).briefing.tokens
        for counted in (0.8, 0.9, 0.92, 1.01, 2.0)
    ]
    assert tokens == sorted(tokens, reverse=True)
    assert tokens[0] > tokens[1] == tokens[2] > tokens[3] > tokens[4]
    assert tokens[4] <= 1_500


async def with_small_budget() -> tuple[CountingSession, ContextSynthesizer, Outcome]:
    """Return a session with more facts than fit, and its briefing."""
    session, synthesizer = a_session(), a_synthesizer(briefing_tokens=600)
    calls = [a_search("courses", *((f"C {n}.{m}", f"Course {n}.{m} on MCP is held in the house by the harbour.")
            for m in range(99))) for n in range(5)]  # fmt: skip
    return session, synthesizer, await committed(synthesizer, session, **log_round(session, 1, *calls))


async def test_facts_to_summarize_are_written_to_a_document_and_named() -> None:
    _, _, outcome = await with_small_budget()
    wanted = ready(outcome).to_summarize
    assert wanted is not None
    assert wanted.source == digest_of(documents(outcome)[TO_SUMMARIZE])
    assert not set(ids_in(wanted.facts)) & set(ids_in(ready(outcome).briefing.shown))


async def test_no_summary_is_requested_when_none_is_allowed() -> None:
    session, synthesizer, _ = await with_small_budget()
    outcome = await handle(synthesizer, session, may_summarize=False)
    assert ready(outcome).to_summarize is None
    assert TO_SUMMARIZE not in documents(outcome)


async def test_a_valid_summary_is_filed_once_and_shown() -> None:
    session, synthesizer, _ = await with_small_budget()
    line = "F100: Course 1.0 on MCP is held in the house by the harbour."
    session.log["5-0"] = an_event(SummaryCompleted(round=2, text=line, facts=("F100-F110",), model="m"))
    outcome = await committed(synthesizer, session, summary="5-0")
    assert ready(outcome).summary_refused == ""
    assert len(filed(outcome)) == 1
    assert line in the_briefing(outcome)
    again = await committed(synthesizer, session, summary="5-0")
    assert filed(again) == []
    assert line in the_briefing(again)


async def test_an_unfaithful_summary_is_refused_with_the_reason() -> None:
    session, synthesizer, _ = await with_small_budget()
    line = "F100: Course 1.0 on MCP costs 99 EUR."
    session.log["5-0"] = an_event(SummaryCompleted(round=2, text=line, facts=("F100-F110",), model="m"))
    with capture_logs() as lines:
        outcome = await handle(synthesizer, session, summary="5-0")
    assert "99" in ready(outcome).summary_refused
    (refusal,) = (line for line in lines if line["event"] == "summary_refused")
    assert refusal["session"] == session.session_id
    assert refusal["round"] == ready(outcome).round
    assert refusal["reason"] == ready(outcome).summary_refused
    assert filed(outcome) == []
    assert "99 EUR" not in the_briefing(outcome)


async def test_an_entry_of_another_kind_is_refused_by_name() -> None:
    session = a_session()
    log_round(session, 1, a_course(1))
    with pytest.raises(
        UnreadableEvent, match=r"log entry 1-2 is antiphon\.tools\.completed\.v1, not antiphon\.reason"
    ):
        await handle(a_synthesizer(), session, reasoning="1-2")


async def test_a_failed_request_caches_no_index_that_lacks_a_round() -> None:
    session, synthesizer = a_session(), a_synthesizer()
    await committed(synthesizer, session, **log_round(session, 1, a_course(1)))
    with pytest.raises(UnreadableEvent):
        await handle(synthesizer, session, results="7-7")
    outcome = await committed(synthesizer, session, **log_round(session, 2, a_course(2)))
    assert "Course number 1" in the_briefing(outcome)
    assert "Course number 2" in the_briefing(outcome)


async def test_the_salience_of_embedded_facts_is_filed_and_reported() -> None:
    async def embed(texts: Sequence[str]) -> list[list[float]]:
        return [
            [float("number 1" in text or "Which" in text), float("number 2" in text), 0.1] for text in texts
        ]

    synthesizer = ContextSynthesizer(ContextSynthesizerSettings(), Embeddings("of a test", embed).weigh)
    session = a_session()
    outcome = await handle(synthesizer, session, **log_round(session, 1, a_course(1), a_course(2)))
    (ready,) = outcome.events
    assert isinstance(ready, BriefingReady)
    commit(session, outcome)
    filed = MemoryDelta.model_validate_json(session.lists[MEMORY][0])
    assert filed.facts[0].salience > filed.facts[1].salience > 0.5
    assert ready.salience == {fact.id: fact.salience for fact in filed.facts}
    assert [write.document for write in outcome.writes if isinstance(write, Append)] == [MEMORY, VECTORS]
