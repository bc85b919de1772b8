"""How close a fact is to what is asked."""

from random import Random

import pytest
from antiphon_shared.memory.layers import Fact, Memory, MemoryDelta
from antiphon_shared.memory.note import Note
from hypothesis import given, settings
from hypothesis import strategies as st

from context_synthesizer.score import Relevance
from tests.context_synthesizer.builders import Session, Told, a_search, a_session, fact_saying
from tests.context_synthesizer.drawn import sessions


def scores_of(session: Session) -> dict[str, float]:
    return session.desk().scores


def test_a_fact_is_read_together_with_the_title_above_it() -> None:
    session = a_session(
        Told(
            [
                a_search(
                    "x",
                    ("Ann Lee", "She lives in Oslo by the sea."),
                    ("Bob Ray", "He lives in Rome by a lake."),
                )
            ]
        ),
        query="Where does Ann Lee live?",
    )
    scores, memory = scores_of(session), session.memory
    assert scores[fact_saying(memory, "Oslo").id] > scores[fact_saying(memory, "Rome").id]


def test_the_search_that_brought_a_fact_lifts_it() -> None:
    said = "Harbour fees were raised again"
    session = a_session(
        Told([
            a_search("harbour fees", ("A", f"{said} in the east.")),
            a_search("ferry times", ("B", f"{said} in the west.")),
        ]),
        query="What changed?",
    )  # fmt: skip
    scores, memory = scores_of(session), session.memory
    assert scores[fact_saying(memory, "east").id] > scores[fact_saying(memory, "west").id]


def test_a_fact_that_a_second_search_finds_again_is_lifted_by_that_one_too() -> None:
    told = ("Fees", "Harbour fees were raised again in the east this year.")
    other = ("Ferries", "Ferry fares were raised again in the west this year.")
    once = [Told([a_search("something", told, other)])]
    again = "get", {"query": "harbour fees"}, [{"name": "News", "text": told[1]}]
    found_once = scores_of(a_session(*once, Told([a_search("harbour fees")]), query="What changed?"))
    found_twice = a_session(*once, Told([again]), query="What changed?")
    assert found_twice.deltas[1].sightings
    assert scores_of(found_twice)["F1"] > found_once["F1"]


def test_a_fact_has_a_share_in_what_stands_beside_it() -> None:
    told = [
        ("A page", "MCP courses are taught in Oslo. It snows there until the end of May."),
        ("B page", "Nobody knows about the moon. It rains there until the end of June."),
    ]
    session = a_session(Told([a_search("x", *told)]), query="Where are MCP courses taught?")
    scores, memory = scores_of(session), session.memory
    assert scores[fact_saying(memory, "snows").id] > scores[fact_saying(memory, "rains").id] == 0


def with_first_fact(session: Session, **fields: object) -> Session:
    """The session with its first fact changed."""
    delta = session.deltas[0]
    changed: Fact = delta.facts[0].model_copy(update=fields)
    deltas = (delta.model_copy(update={"facts": (changed, *delta.facts[1:])}), *session.deltas[1:])
    return Session(session.query, deltas, session.results)


def twins() -> Session:
    told = [("A", "The MCP course takes six hours in all."), ("B", "The MCP course takes nine hours in all.")]
    return a_session(Told([a_search("MCP course", *told)]))


def test_boilerplate_is_demoted() -> None:
    session = with_first_fact(twins(), salience=0.1)
    scores = scores_of(session)
    assert 0 < scores["F1"] < scores["F2"]


def test_what_a_later_date_puts_aside_is_demoted() -> None:
    session = twins()
    scores = scores_of(with_first_fact(session, superseded_by=("F2",)))
    assert 0 < scores["F1"] < scores["F2"]
    assert scores_of(session)["F1"] == pytest.approx(scores_of(session)["F2"])


_calls = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(["mcp course", "ann lee", "harbour"])),
    min_size=2,
    max_size=6,
    unique_by=lambda drawn: drawn[0],
)


@settings(max_examples=30, deadline=None)
@given(_calls, st.randoms(use_true_random=False))
def test_age_changes_nothing(told: list[tuple[int, str]], order: Random) -> None:
    def by_statement(told: list[tuple[int, str]]) -> dict[str, float]:
        session = a_session(
            *(
                Told([a_search(words, (f"T{n}", f"Number {n} says {words} twice: {words}."))])
                for n, words in told
            )
        )
        facts = session.memory.facts
        return {facts[id].statement: score for id, score in scores_of(session).items()}

    shuffled = list(told)
    order.shuffle(shuffled)
    first, second = by_statement(told), by_statement(shuffled)
    assert first == pytest.approx(second)
    assert any(first.values())


@settings(max_examples=40, deadline=None)
@given(sessions())
def test_scores_kept_up_to_date_are_those_of_a_new_index(session: Session) -> None:
    memory, kept = Memory(session.query), Relevance()
    for delta in session.deltas:
        memory = memory.plus(delta)
        kept.add(memory, delta)
        kept.scores(memory)
    whole = MemoryDelta(
        documents=tuple(one for delta in session.deltas for one in delta.documents),
        facts=tuple(one for delta in session.deltas for one in delta.facts),
        sightings=tuple(one for delta in session.deltas for one in delta.sightings),
        tool_usage=tuple(one for delta in session.deltas for one in delta.tool_usage),
    )
    at_once = Relevance()
    at_once.add(memory, whole)
    scores = kept.scores(memory)
    assert set(scores) == set(memory.facts)
    assert all(score >= 0 for score in scores.values())
    if len({use.call_id for use in whole.tool_usage}) == len(whole.tool_usage):
        assert at_once.scores(memory) == scores


def test_words_that_only_answered_sub_questions_ask_for_count_less() -> None:
    told = [
        ("A", "The harbour opens at eight each morning."),
        ("B", "The teacher arrives at nine each morning."),
    ]
    found = Told([a_search("", *told)])
    query = "When does the harbour open, and when does the teacher arrive?"
    note = Note(
        open=("when does the teacher arrive?",), answered=("when does the harbour open? At eight [F1]",)
    )
    before = a_session(found, query=query)
    after = a_session(found, Told(note=note), query=query)
    assert scores_of(before)["F1"] == pytest.approx(scores_of(before)["F2"], rel=0.5)
    assert scores_of(after)["F1"] < scores_of(before)["F1"]
    assert scores_of(after)["F2"] > scores_of(after)["F1"] > 0


def test_an_answered_sub_question_that_is_still_searched_for_counts_in_full() -> None:
    found = Told([a_search("", ("A", "The harbour opens at eight each morning."))])
    note = Note(answered=("when does the harbour open? At eight [F1]",))
    asked = "When does the harbour open?"
    searched = a_session(found, Told([a_search("harbour open")], note=note), query=asked)
    unsearched = a_session(found, Told(note=note), query=asked)
    assert scores_of(searched)["F1"] > scores_of(unsearched)["F1"]


def test_without_a_word_in_common_a_fact_scores_nothing() -> None:
    session = a_session(
        Told([a_search("", ("A", "Moss grows on the quarry wall."))]), query="Which MCP courses?"
    )
    assert scores_of(session) == {"F1": 0}
