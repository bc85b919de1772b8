"""What one briefing.requested changes."""

import pytest

from context_synthesizer.handlers import ContextSynthesizer
from context_synthesizer.settings import ContextSynthesizerSettings
from shared.briefing import digest_of
from shared.bus.handling import MEMORY, Append, Delivery, Outcome, Put
from shared.errors import UnreadableEvent
from shared.events import BriefingReady, BriefingRequested, QuerySubmitted
from shared.memory import MemoryDelta
from tests.envelopes import an_event
from tests.fakes import FakeSession
from tests.memories import a_round


def a_session() -> FakeSession:
    reasoning, results = a_round(("search", {"q": "x"}, [{"name": "a"}, {"name": "b"}]))
    return FakeSession(
        log={
            "1-0": an_event(QuerySubmitted(query="Why?")),
            "2-0": an_event(reasoning),
            "3-0": an_event(results),
        }
    )


async def handle(session: FakeSession, **fields: str) -> Outcome:
    request = BriefingRequested(round=2, max_rounds=4, question="1-0").model_copy(update=fields)
    synthesizer = ContextSynthesizer(ContextSynthesizerSettings(memory_bytes_max=10_000))
    return await synthesizer.on_briefing_requested(Delivery(an_event(request), "9-0"), session)


def the_briefing(outcome: Outcome) -> str:
    (ready,) = outcome.events
    assert isinstance(ready, BriefingReady)
    assert ready.round == 2
    (text,) = [write.content.decode() for write in outcome.writes if isinstance(write, Put)]
    assert ready.briefing.digest == digest_of(text)
    return text


def filed(outcome: Outcome) -> list[Append]:
    return [write for write in outcome.writes if isinstance(write, Append)]


async def test_the_last_round_is_filed_as_one_delta_and_shown() -> None:
    outcome = await handle(a_session(), reasoning="2-0", results="3-0")
    (write,) = filed(outcome)
    assert (write.document, write.length) == (MEMORY, 0)
    assert [fact.id for fact in MemoryDelta.model_validate_json(write.item).facts] == ["F1", "F2"]
    assert '- round 1: search {"q": "x"} -> ok: F1, F2' in the_briefing(outcome)


async def test_without_anything_to_file_nothing_is_written() -> None:
    outcome = await handle(a_session())
    assert filed(outcome) == []
    assert the_briefing(outcome) == "# Question\nWhy?\n\n# Now\nRound 2 of at most 4."


async def test_a_round_asked_for_again_is_not_filed_twice() -> None:
    session = a_session()
    first = await handle(session, reasoning="2-0", results="3-0")
    session.lists[MEMORY] = [write.item for write in filed(first)]
    again = await handle(session, reasoning="2-0", results="3-0")
    assert filed(again) == []
    assert again.events == first.events


async def test_a_full_memory_keeps_what_fits_and_says_so() -> None:
    session = a_session()
    reasoning, results = a_round(("search", {}, [{"text": "x" * 4000} for _ in range(5)]))
    session.log |= {"2-0": an_event(reasoning), "3-0": an_event(results)}
    outcome = await handle(session, reasoning="2-0", results="3-0")
    (write,) = filed(outcome)
    assert len(write.item) < 11_000
    assert "ok: F1, F2 3 of its 5 facts not kept" in the_briefing(outcome)


async def test_an_entry_of_another_kind_is_refused_by_name() -> None:
    with pytest.raises(
        UnreadableEvent, match=r"log entry 3-0 is antiphon\.tools\.completed\.v1, not antiphon\.reason"
    ):
        await handle(a_session(), reasoning="3-0")
