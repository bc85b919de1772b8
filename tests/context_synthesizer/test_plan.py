"""The growing section: the beginning of a cached prompt stays unchanged while there is room."""

from collections.abc import Iterator
from itertools import pairwise, takewhile

from antiphon_shared.memory.briefing import Briefing
from hypothesis import given, settings
from hypothesis import strategies as st

from context_synthesizer.select import LAZY_TOKENS
from context_synthesizer.session_index import SessionIndex
from tests.context_synthesizer.builders import Round, Session, a_search, a_session
from tests.context_synthesizer.drawn import sessions
from tests.context_synthesizer.reading import ORDER, read
from tests.memories import a_round

QUERY = "Which courses teach MCP, and who teaches them?"
TOPICS = "mcp courses", "mcp teachers", "harbour fees", "ferry times", "course prices", "weather"


def a_long_session(rounds: int, passages: int = 5, sentences: int = 4) -> Session:
    """Return a session of rounds with one search each on one of a few topics, with different sentences."""
    return a_session(*long_rounds(rounds, passages, sentences), query=QUERY)


def long_rounds(rounds: int, passages: int = 5, sentences: int = 4) -> list[Round]:
    entries = []
    for number in range(rounds):
        topic = TOPICS[number % len(TOPICS)]
        texts = [
            " ".join(
                f"Note {number}.{n}.{m} on {topic} was written down in room {number * 7 + n + m} of the house."
                for m in range(sentences)
            )
            for n in range(passages)
        ]
        entries.append(
            Round([a_search(topic, *((f"Page {number}.{n}", text) for n, text in enumerate(texts)))])
        )
    return entries


def briefings(session: Session, tokens_max: int) -> Iterator[Briefing]:
    """Yield the briefing after each round, of a growing index."""
    session_index = SessionIndex(session.query, tokens_max)
    for number, delta in enumerate(session.deltas, 2):
        session_index.add(delta)
        yield session_index.briefing(number, 99)


def facts_text(briefing: Briefing) -> str:
    """Return the briefing up to the end of the last line of a fact in its growing section."""
    beginning = briefing.text.partition("\n\n# Further facts\n")[0]
    for title in ORDER[3:]:
        beginning = beginning.partition(f"\n\n# {title}\n")[0]
    return beginning.removesuffix("\n</result>")


def unchanged(former: str, text: str) -> int:
    """Return the number of leading characters that are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(former, text, strict=False)))


@settings(max_examples=30, deadline=None)
@given(sessions(is_tame=True, rounds_min=2), st.integers(LAZY_TOKENS + 1, 12_000))
def test_facts_are_only_appended_while_everything_fits(session: Session, tokens: int) -> None:
    former = ""
    for briefing in briefings(session, tokens):
        if briefing.outline.omitted:
            break
        assert briefing.text.startswith(former)
        former = facts_text(briefing)


def test_after_an_overflow_facts_are_planned_once_and_then_stay() -> None:
    former, kept, replanned = "", 0, 0
    for briefing in briefings(a_long_session(24), 6_000):
        if briefing.text.startswith(former):
            kept += 1
        else:
            replanned += 1
        former = facts_text(briefing)
    assert replanned >= 1
    assert kept >= 3 * replanned


def test_more_than_half_of_the_leading_characters_stay_from_round_to_round() -> None:
    texts = [briefing.text for briefing in briefings(a_long_session(12), 8_000)]
    assert len(texts) == 12
    shares = [unchanged(former, text) / len(text) for former, text in pairwise(texts)]
    assert sum(shares) / len(shares) > 0.5


def test_the_closest_remaining_facts_form_a_section_of_their_own() -> None:
    *_, last = briefings(a_long_session(24), 6_000)
    reading = read(last, QUERY)
    assert reading.order["Facts"]
    assert reading.order["Further facts"]
    assert last.outline.omitted


def test_a_new_fact_as_relevant_as_the_planned_ones_joins_the_growing_section() -> None:
    session_index = a_long_session(20).session_index(6_000)
    assert session_index.briefing(21, 99).outline.omitted
    near = a_search("MCP courses", ("MCP teachers", "Ann Lee teaches the MCP courses of the house."))
    cliffs = [(f"Cliff {n}", "The wind is strong. Basalt lies below the moss.") for n in range(12)]
    far = a_search("quarry", *cliffs)
    for number, call in ((21, near), (22, far)):
        session_index.file(*a_round(call, round=number))
    facts = read(session_index.briefing(23, 99), QUERY).facts
    sections = {line.text: line.section for line in facts.values()}
    assert sections["Ann Lee teaches the MCP courses of the house."] == "Facts"
    assert sections.get("Basalt lies below the moss.", "") != "Facts"


def test_a_small_budget_has_no_planned_sections() -> None:
    for briefing in briefings(a_long_session(12), LAZY_TOKENS):
        assert "Further facts" not in read(briefing, QUERY).sections


def test_each_level_below_full_is_chosen_without_the_plan() -> None:
    session_index = a_long_session(24).session_index(6_000)
    assert "Further facts" in read(session_index.briefing(9, 9), QUERY).sections
    for level in ("simplified", "minimal"):
        assert "Further facts" not in read(session_index.briefing(9, 9, level), QUERY).sections


@settings(max_examples=20, deadline=None)
@given(st.integers(LAZY_TOKENS + 1, 9_000), st.integers(3, 14), st.integers(1, 6), st.integers(1, 8))
def test_a_planned_briefing_keeps_its_budget(tokens: int, rounds: int, passages: int, sentences: int) -> None:
    for briefing in briefings(a_long_session(rounds, passages, sentences), tokens):
        assert briefing.outline.tokens <= tokens
        read(briefing, QUERY)


def test_facts_that_many_conclusions_cite_stay_in_a_planned_briefing() -> None:
    session = a_long_session(16)
    cited = [f"F{number}" for number in range(1, 200, 5)]
    note = Round(text=f"All of these matter [{', '.join(cited)}].")
    session_index = session.session_index(8_000)
    for delta in a_session(*[Round()] * 16, note, query=QUERY).deltas:
        session_index.add(delta)
    shown = read(session_index.briefing(18, 99), QUERY).facts
    assert set(cited) <= set(shown)


def test_a_fact_cited_by_a_conclusion_is_planned_though_its_words_are_far_from_the_question() -> None:
    far = Round([a_search("else", ("Log", "A storm broke the quay of Norwick in the winter of 1962."))])
    cites = Round(text="The storm may matter [F1].")
    briefing = a_session(far, cites, *long_rounds(20), query=QUERY).briefing(4_100)
    assert "# Further facts" in briefing.text, "it has been planned anew"
    assert "F1 A storm broke the quay" in facts_text(briefing)
