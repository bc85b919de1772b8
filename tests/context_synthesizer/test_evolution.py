"""Over recorded sessions: what the final answer cites is in every briefing from its discovery on.

The recordings are the events of real runs (recordings/record.py); the memory and the briefings are made anew here.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from antiphon_shared.events import (
    AnyEvent,
    BriefingRequested,
    QuerySubmitted,
    ReasoningCompleted,
    ResponseReady,
    ToolsCompleted,
    decode,
)
from antiphon_shared.events.session import Source
from antiphon_shared.memory.briefing import Briefing, ids_in
from antiphon_shared.memory.layers import Fact
from antiphon_shared.memory.session_memory import Memory

from context_synthesizer.session_index import SessionIndex
from tests.context_synthesizer.recordings.record import BRIEFING_TOKENS

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.jsonl"))
NAMES = [path.stem for path in RECORDINGS]


def log_of(recording: Path) -> dict[str, AnyEvent]:
    lines = map(json.loads, recording.read_text().splitlines())
    return {line["log_entry"]: decode(json.dumps(line["event"]).encode()) for line in lines}


def replayed(log: dict[str, AnyEvent], tokens: int = BRIEFING_TOKENS) -> Iterator[tuple[Memory, Briefing]]:
    """Yield the memory and the briefing at each request for one."""
    (query,) = [event.data.query for event in log.values() if isinstance(event.data, QuerySubmitted)]
    session_index = SessionIndex(query, tokens)
    for event in log.values():
        if not isinstance(request := event.data, BriefingRequested):
            continue
        reasoning = log[request.reasoning].data if request.reasoning else None
        results = log[request.results].data if request.results else None
        assert reasoning is None or isinstance(reasoning, ReasoningCompleted)
        assert results is None or isinstance(results, ToolsCompleted)
        session_index.add(
            session_index.filed(reasoning, results, untrusted=request.untrusted, entry=request.results)
        )
        yield session_index.memory, session_index.briefing(request.round, request.max_rounds, request.level)


def cited_sources(log: dict[str, AnyEvent]) -> list[Source]:
    (response,) = [event.data for event in log.values() if isinstance(event.data, ResponseReady)]
    return [source for source in response.sources if source.number]


def fact_of(source: Source, memory: Memory) -> Fact | None:
    """Return the fact from a source, with its present number."""
    saying = [
        fact
        for fact in memory.facts.values()
        if fact.statement == source.excerpt and memory.document_of(fact).call_id == source.call_id
    ]
    return saying[0] if saying else None


@pytest.mark.parametrize("tokens", [BRIEFING_TOKENS, 2 * BRIEFING_TOKENS, 8_000])
@pytest.mark.parametrize("recording", RECORDINGS, ids=NAMES)
def test_a_fact_that_the_answer_cites_is_in_every_briefing_since_its_discovery(
    recording: Path, tokens: int
) -> None:
    log = log_of(recording)
    cited = cited_sources(log)
    assert cited
    for source in cited:
        seen = [
            fact.id in ids_in(briefing.outline.shown)
            for memory, briefing in replayed(log, tokens)
            if (fact := fact_of(source, memory))
        ]
        assert seen, f"no fact says {source.excerpt!r} any more; record the sessions anew"
        assert all(seen), (
            f"{source.excerpt!r} is missing from briefing {seen.index(False) + 1} of {len(seen)}"
        )


@pytest.mark.parametrize("recording", RECORDINGS, ids=NAMES)
def test_the_last_briefing_holds_the_words_that_the_answer_quotes(recording: Path) -> None:
    log = log_of(recording)
    *_, (_, last) = replayed(log)
    for source in cited_sources(log):
        assert source.excerpt in last.text


def test_the_recordings_include_long_sessions_whose_facts_do_not_all_fit() -> None:
    lasts = [list(replayed(log_of(path)))[-1] for path in RECORDINGS]
    assert len(lasts) >= 6
    assert sum(briefing.outline.omitted > 0 for _, briefing in lasts) >= 5
    assert max(len(memory.tool_usage) for memory, _ in lasts) >= 8
