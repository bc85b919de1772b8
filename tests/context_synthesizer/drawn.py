"""Strategies for hypothesis: sessions of all kinds, budgets, levels."""

from collections.abc import Mapping

from antiphon_shared.memory.briefing import Level
from antiphon_shared.memory.note import Note
from hypothesis import strategies as st

from tests.context_synthesizer.builders import Round, Session, a_search, a_session
from tests.memories import an_error, hostile_text, tool_output
from tests.pieces import some_of

SHARES: Mapping[Level, int] = {"full": 1, "simplified": 2, "minimal": 4}
levels: st.SearchStrategy[Level] = st.sampled_from(tuple(SHARES))
budgets = st.one_of(st.integers(150, 1_500), st.integers(150, 12_000))
_WORDS = (
    "mcp", "server", "tool", "course", "teacher", "Ann", "Lee", "Oslo", "Berlin", "2021", "2024", "hours",
    "lesson", "agent", "prompt", "protocol", "opened", "the", "by", "in", "of", "teaches", "moved", "price",
    "12", "EUR", "40%", "model", "session", "cache", "retry", "queue", "river", "bridge", "harbour",
)  # fmt: skip  # a text, not a column
_sentences = some_of(_WORDS, min_size=4, max_size=20).map(lambda words: " ".join(words) + ".")
_titles = some_of(_WORDS, max_size=5).map(" ".join)
_queries = some_of(_WORDS, min_size=1, max_size=5).map(" ".join)
_passages = st.lists(
    st.tuples(_titles, st.lists(_sentences, min_size=1, max_size=4).map(" ".join)), max_size=5
)
_tame_calls = st.tuples(_queries, _passages).map(lambda drawn: a_search(drawn[0], *drawn[1]))
_record_calls = st.tuples(
    st.just("lookup"),
    st.fixed_dictionaries({"name": _queries}),
    st.dictionaries(st.sampled_from(_WORDS), st.one_of(st.integers(), _titles, _sentences), max_size=6),
)
_failed_calls = st.tuples(
    st.just("search"),
    st.fixed_dictionaries({"query": _queries}),
    st.builds(an_error, st.sampled_from(["not_found", "timeout"]), hostile_text),
)
_hostile_calls = st.tuples(
    hostile_text.map(lambda name: name[:200]),
    st.dictionaries(hostile_text, tool_output, max_size=2),
    tool_output,
)
_cited = st.lists(st.integers(1, 40), max_size=3).map(lambda ids: "".join(f" [F{one}]" for one in ids))
_cited_sentences = st.tuples(st.one_of(_sentences, hostile_text), _cited).map("".join)
_lines = st.lists(_cited_sentences.map(lambda words: " ".join(words.split())).filter(bool), max_size=3).map(
    tuple
)
_notes = st.one_of(
    st.none(), st.builds(Note, concluded=_lines, open=_lines, answered=_lines, doubts=_lines, plans=_lines)
)
_pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), max_size=3)
_rounds = st.builds(
    Round,
    calls=st.lists(
        st.one_of(_tame_calls, _tame_calls, _record_calls, _failed_calls, _hostile_calls), max_size=4
    ),
    text=_cited_sentences,
    note=_notes,
    supersedes=_pairs,
    contradicts=_pairs,
)
_tame_rounds = st.builds(
    Round, calls=st.lists(st.one_of(_tame_calls, _record_calls), min_size=1, max_size=4), text=_sentences
)


@st.composite
def sessions(draw: st.DrawFn, *, is_tame: bool = False, rounds_min: int = 0, rounds_max: int = 6) -> Session:
    """Draw sessions of all kinds; tame ones have no hostile texts, no notes and no facts that others displace."""
    rounds = draw(st.lists(_tame_rounds if is_tame else _rounds, min_size=rounds_min, max_size=rounds_max))
    query = draw(_queries if is_tame else st.one_of(_queries, st.text(min_size=1, max_size=600)))
    return a_session(*rounds, query=query)
