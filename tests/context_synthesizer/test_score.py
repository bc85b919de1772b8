"""The closeness of a fact to the question."""

from random import Random

import pytest
from antiphon_shared.memory.layers import Fact
from antiphon_shared.memory.session_memory import Memory
from hypothesis import given, settings
from hypothesis import strategies as st

from context_synthesizer.score import Relevance
from context_synthesizer.scores import Scores
from tests.context_synthesizer.builders import Round, Session, a_search, a_session, fact_saying
from tests.context_synthesizer.drawn import sessions


def scores_of(session: Session) -> Scores:
    return session.session_index().scores


def test_a_fact_is_scored_together_with_its_title() -> None:
    session = a_session(
        Round(
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


def test_a_fact_scores_higher_if_one_of_the_closest_facts_names_its_document() -> None:
    session = a_session(
        Round([
            a_search("Ada Holm", ("Ada Holm", "Ada Holm was born in Calden Marsh, where she painted.")),
            a_search("Ada Holm", ("Calden Marsh", "It lies on the Tern, a slow river.")),
            a_search("Ada Holm", ("Norwick Vale", "It lies on the Wren, a quick river.")),
        ]),
        query="Where did the painter Ada Holm live?",
    )  # fmt: skip
    scores, memory = scores_of(session), session.memory
    assert scores[fact_saying(memory, "Tern").id] > scores[fact_saying(memory, "Wren").id]


def test_a_reply_in_a_dialogue_is_scored_together_with_the_line_before_it() -> None:
    dialogue = "Ann: How was the pottery class in Oslo?\nBob: Splendid, though the oven broke again."
    other = "Ann: How was your walk by the sea?\nBob: Dreadful, since the rain came early."
    read = [("read", {"page": n}, {"text": text}) for n, text in enumerate((dialogue, other))]
    session = a_session(Round(read), query="What did Bob say of the pottery class in Oslo?")
    scores, memory = scores_of(session), session.memory
    assert scores[fact_saying(memory, "Splendid").id] > scores[fact_saying(memory, "Dreadful").id]


def test_a_found_line_scores_higher_only_by_the_question_before_it() -> None:
    asked = "Ann: How was the pottery class in Oslo?\nBob: Splendid, though the oven broke again."
    dialogue = "Ann: I was at the pottery class in Oslo.\nBob: Dreadful, since the rain came early."
    session = a_session(
        Round(
            [a_search("pottery class", ("Chat 1", asked)), a_search("class in Oslo", ("Chat 2", dialogue))]
        ),
        query="What did Bob say of the pottery class in Oslo?",
    )
    scores, memory = scores_of(session), session.memory
    answer, statement = (scores[fact_saying(memory, word).id] for word in ("Splendid", "Dreadful"))
    assert answer > 1.2 * statement


def test_the_first_search_hits_and_the_beginning_of_a_document_score_higher() -> None:
    entries = [
        (f"Page {n}", f"Harbour fees rose in {place}. Harbour fees fell in {place}.")
        for n, place in enumerate(["Oslo", "Rome"])
    ]
    session = a_session(Round([a_search("harbour fees", *entries)]), query="What of harbour fees?")
    scores, memory = scores_of(session), session.memory
    first, later = (
        [fact.id for fact in memory.facts.values() if place in fact.statement] for place in ("Oslo", "Rome")
    )
    assert scores[first[0]] > scores[first[1]] > scores[later[1]]


def test_a_search_without_known_words_counts_less() -> None:
    query = "Where does the painter Ada Holm live?"
    begun = Round([a_search("Ada Holm", ("Ada Holm", "Ada Holm is a painter in Calden."))])
    asked_on = a_session(
        begun, Round([a_search("Calden river", ("A", "A river is in the east."))]), query=query
    )
    wrong_turn = a_session(
        begun, Round([a_search("quarry river", ("A", "A river is in the east."))]), query=query
    )
    assert scores_of(asked_on)["F2"] > scores_of(wrong_turn)["F2"]


def test_a_word_of_any_earlier_fact_is_known_despite_its_distance_from_the_question() -> None:
    query = "Where does the painter Ada Holm live?"
    close = [(f"Ada Holm {n}", f"The painter Ada Holm did live at number {n}.") for n in range(30)]
    begun = Round([a_search("Ada Holm", *close, ("Z", "A quarry is in the hills."))])
    found = ("A", "A river is in the east.")
    known = a_session(begun, Round([a_search("quarry river", found)]), query=query)
    unknown = a_session(begun, Round([a_search("orchard river", found)]), query=query)
    assert scores_of(known)["F32"] > scores_of(unknown)["F32"]


def with_first_fact(session: Session, **fields: object) -> Session:
    """Return the session with its first fact changed."""
    delta = session.deltas[0]
    changed: Fact = delta.facts[0].model_copy(update=fields)
    deltas = (delta.model_copy(update={"facts": (changed, *delta.facts[1:])}), *session.deltas[1:])
    return Session(session.query, deltas, session.results)


def two_similar_facts() -> Session:
    entries = [
        ("A", "The MCP course takes six hours in all."),
        ("B", "The MCP course takes nine hours in all."),
    ]
    return a_session(Round([a_search("MCP course", *entries)]))


def test_boilerplate_scores_lower() -> None:
    session = with_first_fact(two_similar_facts(), salience=0.1)
    scores = scores_of(session)
    assert 0 < scores["F1"] < scores["F2"]


def test_a_fact_superseded_by_a_later_date_scores_lower() -> None:
    session = two_similar_facts()
    scores = scores_of(with_first_fact(session, superseded_by=("F2",)))
    assert 0 < scores["F1"] < scores["F2"]
    assert scores_of(session)["F1"] > scores_of(session)["F2"]


_calls = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(["mcp course", "ann lee", "harbour"])),
    min_size=2,
    max_size=6,
    unique_by=lambda drawn: drawn[0],
)


@settings(max_examples=30, deadline=None)
@given(_calls, st.randoms(use_true_random=False))
def test_the_age_of_a_fact_does_not_change_its_score(
    statements: list[tuple[int, str]], order: Random
) -> None:
    def by_statement(statements: list[tuple[int, str]]) -> dict[str, float]:
        calls = [
            a_search(words, (f"T{n}", f"Number {n} says {words} twice: {words}.")) for n, words in statements
        ]
        session = a_session(Round(calls))
        facts = session.memory.facts
        return {facts[id].statement: score for id, score in scores_of(session).items()}

    shuffled = list(statements)
    order.shuffle(shuffled)
    first, second = by_statement(statements), by_statement(shuffled)
    assert first == pytest.approx(second)
    assert any(first.values())


@settings(max_examples=40, deadline=None)
@given(sessions())
def test_scores_do_not_depend_on_when_they_are_computed(session: Session) -> None:
    memory, kept, taken_over = Memory(session.query), Relevance(), Relevance()
    for delta in session.deltas:
        memory = memory.plus(delta)
        kept.add(memory, delta)
        kept.scores(memory)
        kept.scores(memory, ("Where is the harbour?",))
        taken_over.add(memory, delta)
    scores = taken_over.scores(memory)
    assert kept.scores(memory) == scores
    assert set(scores) == set(memory.facts)
    assert all(score >= 0 for score in scores.values())


def test_all_facts_without_a_shared_word_score_zero() -> None:
    session = a_session(
        Round([a_search("", ("A", "Moss grows on the quarry wall."))]), query="Which MCP courses?"
    )
    assert scores_of(session) == {"F1": 0}


def a_session_with_reports(query: str) -> Session:
    reports = [
        ("Acme: report of 3 May 2021", "Ann Lee was named to lead the firm."),
        ("Acme: report of 9 June 2024", "The board chose Bob Ray."),
        ("Acme: report of 1 March 2019", "Ines Dahl came from Oslo."),
    ]
    return a_session(Round([a_search("who was named to lead Acme", *reports)]), query=query)


@pytest.mark.parametrize(
    ("query", "statement"),
    [
        ("Who leads Acme now?", "Bob Ray"),
        ("Who is the current head of Acme?", "Bob Ray"),
        ("Who led Acme in 2019?", "Ines Dahl"),
    ],
)
def test_a_dated_report_that_is_asked_for_is_as_close_as_the_closest_of_its_series(
    query: str, statement: str
) -> None:
    session = a_session_with_reports(query)
    scores, memory = scores_of(session), session.memory
    assert scores[fact_saying(memory, statement).id] == max(scores.values())


def test_no_report_scores_higher_without_a_time_in_the_question() -> None:
    session = a_session_with_reports("Who was named to lead Acme?")
    scores, memory = scores_of(session), session.memory
    assert scores[fact_saying(memory, "Bob Ray").id] < scores[fact_saying(memory, "Ann Lee").id]
    assert scores[fact_saying(memory, "Ines Dahl").id] < scores[fact_saying(memory, "Ann Lee").id]


def test_lines_of_a_dated_conversation_do_not_count_as_reports() -> None:
    talks = [
        ("Chat of 3 May 2021", "Ann: Ines leads Acme, so I hear.\nBob: That is good news for Oslo."),
        ("Chat of 9 June 2024", "Bob: The soup was good.\nAnn: It was too salty for me, if you ask."),
    ]
    session = a_session(Round([a_search("who leads Acme", *talks)]), query="Who leads Acme now?")
    scores, memory = scores_of(session), session.memory
    assert scores[fact_saying(memory, "soup").id] < scores[fact_saying(memory, "Ines").id]
