"""One source, or one statement in many copies, cannot displace all other facts."""

from random import Random

import pytest
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.memory.session_memory import Memory

from context_synthesizer.page import Page, Pieces, TokenBudget
from context_synthesizer.session_index import SessionIndex
from context_synthesizer.shares import Shares
from tests.context_synthesizer.builders import Round, Session, a_search, a_session, fact_saying

QUESTION = "In which year did the Brinknes Observatory open, and who designed it?"
GOLD = (
    ("Brinknes Observatory", "The observatory opened in 1931 on a hill above the harbour."),
    ("Clara Ostrander", "Clara Ostrander designed the Brinknes Observatory with her brother."),
)
_FILLERS = [
    "lamp",
    "quarry",
    "velvet",
    "turnip",
    "saddle",
    "copper",
    "meadow",
    "anchor",
    "pebble",
    "lantern",
    "orchard",
    "thimble",
    "walnut",
    "kettle",
]


def copies(random: Random, count: int) -> list[tuple[str, str]]:
    """Return copies of one statement that is close to the question, with different numbers."""
    return [
        (
            f"Brinknes Observatory {random.randrange(10**6)}",
            f"The Brinknes Observatory did open in the year {random.randrange(10**6)}, designed by nobody known.",
        )
        for _ in range(count)
    ]


def stuffed(random: Random, count: int) -> list[tuple[str, str]]:
    """Return texts that hold the words of the question and a few others."""
    return [
        (f"{random.choice(_FILLERS)} {n}", f"{QUESTION[:-1]} {' '.join(random.sample(_FILLERS, 6))} {n}.")
        for n in range(count)
    ]


def attacked(chaff: list[tuple[str, str]], random: Random) -> Session:
    """Return a session where `chaff` came from another call than the gold."""
    first = [Round([a_search("Brinknes Observatory", *GOLD)]), Round([a_search("Brinknes", *chaff)])]
    random.shuffle(first)
    later = [
        Round([a_search("walks", ("Walks", f"A path leads to the old mill number {n}."))]) for n in range(2)
    ]
    return a_session(*first, *later, query=QUESTION)


def briefed(session: Session, tokens: int, *, is_untrusted: bool) -> tuple[Memory, str]:
    """Return the memory of the session, and its briefing."""
    session_index = SessionIndex(QUESTION, tokens_max=tokens)
    calls = {use.call_id for delta in session.deltas for use in delta.tool_usage if use.query == "Brinknes"}
    for delta in session.deltas:
        session_index.add(with_trust(delta, calls) if is_untrusted else delta)
    return session_index.memory, session_index.briefing(5, 9).text


def with_trust(delta: MemoryDelta, calls: set[str]) -> MemoryDelta:
    documents = tuple(
        one.model_copy(update={"is_untrusted": one.call_id in calls}) for one in delta.documents
    )
    return delta.model_copy(update={"documents": documents})


@pytest.mark.parametrize("count", [20, 100, 500, 2_000])
@pytest.mark.parametrize("seed", [1, 2])
def test_copies_of_a_statement_with_other_numbers_do_not_displace_other_facts(seed: int, count: int) -> None:
    random = Random(seed * count)
    session = attacked(copies(random, count), random)
    for tokens in (500, 2_000, 8_000):
        _, text = briefed(session, tokens, is_untrusted=False)
        assert all(sentence in text for _, sentence in GOLD), tokens


@pytest.mark.parametrize("count", [20, 100, 500, 2_000])
@pytest.mark.parametrize("seed", [1, 2])
def test_untrusted_text_stuffed_with_the_question_does_not_displace_other_facts(
    seed: int, count: int
) -> None:
    random = Random(seed * count)
    session = attacked(stuffed(random, count), random)
    for tokens in (500, 2_000, 8_000):
        _, text = briefed(session, tokens, is_untrusted=True)
        assert all(sentence in text for _, sentence in GOLD), tokens


def test_one_long_document_does_not_displace_other_facts() -> None:
    long = " ".join(
        f"The observatory of Brinknes has a {word} in room {n}." for n, word in enumerate(_FILLERS * 9)
    )
    session = attacked([("Brinknes Observatory", long)], Random(3))
    memory, text = briefed(session, 500, is_untrusted=False)
    assert len(memory.facts) > 30
    assert all(sentence in text for _, sentence in GOLD)


def two(first: str, second: str, query: str) -> tuple[Session, bool]:
    """Return a session of two statements, and whether the second one repeats the first."""
    session = a_session(Round([a_search("x", ("A", first), ("B", second))]), query=query)
    memory = session.memory
    shares = Shares(Page("Facts", memory, Pieces(), TokenBudget(10**6)))
    shares.count_shown(fact_saying(memory, first), 100)
    return session, shares.is_repetition(fact_saying(memory, second))


def test_a_statement_that_differs_in_a_number_is_a_repetition_unless_the_question_asks_for_it() -> None:
    statements = (
        "Norwick had 4,100 people in 2019 and a port.",
        "Norwick had 4,300 people in 2020 and a port.",
    )
    assert two(*statements, query="How many people live in Norwick?")[1]
    assert not two(*statements, query="How many people lived in Norwick in 2019 and in 2020?")[1]


def test_statements_in_other_words_are_no_repetitions() -> None:
    statements = "Norwick has a deep port and a pier.", "Norwick lies on the river Tern in the east."
    assert not two(*statements, query="What is known of Norwick?")[1]
