"""Summaries of a model: their input, and the check of the model's text."""

import pytest
from antiphon_shared.events import SummaryCompleted
from antiphon_shared.memory.briefing import digest_of, ids_in
from antiphon_shared.memory.layers import MemoryDelta, Summary
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.tokens import estimate_tokens
from hypothesis import given, settings
from hypothesis import strategies as st

from context_synthesizer.summaries import SOURCE_TOKENS_MAX, SOURCE_TOKENS_MIN, check_summary
from tests.context_synthesizer.builders import Round, Session, a_search, a_session
from tests.context_synthesizer.drawn import sessions
from tests.memories import hostile_text

GIVEN = ("F1-F3",)


def a_memory() -> Memory:
    entries = (
        ("Courses", "The course in Oslo costs 40 EUR and takes six hours."),
        ("Courses", "On 2024-05-01 the teacher Ann Lee moved to room B-12."),
        ("A forum", 'They say that "nobody needs the second part" of it all.'),
    )
    memory = a_session(Round([a_search("courses", *entries)])).memory
    assert list(memory.facts) == ["F1", "F2", "F3"]
    return memory


def a_summary(text: str, facts: tuple[str, ...] = GIVEN) -> SummaryCompleted:
    return SummaryCompleted(round=2, text=text, facts=facts, model="m")


def test_a_faithful_summary_is_kept_with_the_facts_it_names() -> None:
    text = (
        "- F1: Oslo course, 40 EUR, six hours.\n\n"
        "F2, F3: On 2024-05-01 Ann Lee moved to B-12; a forum: \"nobody needs the second part\"."
    )  # fmt: skip
    summary = check_summary(a_summary(text), a_memory())
    assert isinstance(summary, Summary)
    assert summary.facts == GIVEN
    assert summary.text.splitlines()[0] == "F1: Oslo course, 40 EUR, six hours."
    assert summary.text.splitlines()[1].startswith("F2, F3: On 2024-05-01")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("F1: The Oslo course costs 45 EUR and takes six hours.", "45"),
        ("F1: The Oslo course costs a lot and takes six hours.", "loses"),
        ("F2: On 2024-05-01 Bob Ray moved to room B-12.", "ray"),
        ("F2: On 2024-05-01 the teacher moved to room B-12.", "loses"),
        ("F2: On 2024-05-01 Ann Lee moved to room B-13.", "b-13"),
        ("F2: On 2024-05-02 Ann Lee moved to room B-12.", "2024-05-02"),
        ('F3: They say "everybody needs the second part" of it.', "quotes"),
        ("F9: Something else.", "not given: F9"),
        ("The course costs 40 EUR.", "names no facts"),
        ("F1: Oslo, 40 EUR.\nAnd that is all there is.", "names no facts"),
        ("", "says nothing"),
        (" \n\t\n", "says nothing"),
    ],
)
def test_a_summary_that_invents_or_loses_something_is_refused_with_the_reason(text: str, why: str) -> None:
    refused = check_summary(a_summary(text), a_memory())
    assert isinstance(refused, str)
    assert why in refused
    assert refused.endswith((".", "…")) or ":" in refused


FACTS = (
    "Anthropic introduced the protocol in November 2024.",
    "It takes six hours, and the fee does not include lunch.",
    "The temperature was -5 degrees at the camp, which is 12 km from Calden.",
    "A ticket costs $5 before noon.",
    "The share of women rose from 5 to 9 percent between 2010 and 2020.",
    "The bridge carries at most 40 tonnes and was finished after the war.",
)


def checked(text: str) -> Summary | str:
    memory = a_session(Round([a_search("x", *((f"T{n}", one) for n, one in enumerate(FACTS)))])).memory
    assert [fact.statement for fact in memory.facts.values()] == list(FACTS)
    return check_summary(a_summary(text, tuple(memory.facts)), memory)


@pytest.mark.parametrize(
    "text",
    [
        "F1: Anthropic's protocol was introduced in November 2024.\nF4: $5 a ticket before noon.",
        "F1, F2: Introduced by Anthropic in November 2024; takes 6 hours; lunch is not included.",
        "F3, F4: The camp, 12 km from Calden, had -5 degrees; tickets cost 5 dollars before noon.",
        "F5: The women's share increased from 5 percent to 9% between 2010 and 2020.",
        "F6: Finished after the war, the bridge carries up to 40 t.",
        "F5, F6: Share of women: rose from 5 to 9 percent, 2010 to 2020. Bridge: at most 40 tonnes.",
        "F2: A six-hour course; lunch isn't in the fee.",
    ],
)
def test_a_shorter_line_with_the_same_content_is_accepted(text: str) -> None:
    assert isinstance(checked(text), Summary)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("F1: Microsoft introduced the protocol in November 2024.", "microsoft"),
        ("F1: The protocol came in November 2024. Google introduced it.", "google"),
        ("F2: It takes nine hours, and the fee does not include lunch.", "nine hours"),
        ("F2: It takes six hours, and the fee includes lunch.", "denied"),
        ("F1: Anthropic has not introduced the protocol in November 2024.", "denies"),
        ("F3: The temperature was 5 degrees at the camp, which is 12 km from Calden.", "invents 5"),
        ("F3: The temperature was -5 degrees at the camp, 12 mi from Calden.", "12 mi"),
        ("F3: The temperature was -5 degrees at the camp, 12 miles from Calden.", "12 mi"),
        ("F4: A ticket costs EUR5 before noon.", "eur5"),
        ("F4: A ticket costs €5 before noon.", "€5"),
        ("F4: A ticket costs € 5 before noon.", "€5"),
        ("F4: A ticket costs EUR 5 before noon.", "eur 5"),
        ("F4: A ticket costs $5 after noon.", "before and after"),
        ("F5: The share of women rose from 9 to 5 percent between 2010 and 2020.", "order of 9, 5"),
        ("F5: The share of women rose from 9 percent to 5 percent, 2010 to 2020.", "order of 9, 5"),
        ("F5: The share of women fell from 5 to 9 percent between 2010 and 2020.", "rise and fall"),
        ("F5: The share of women rose from 5 to 9 percent between 2020 and 2010.", "order of 2020, 2010"),
        ("F6: The bridge carries at least 40 tonnes and was finished after the war.", "at most"),
        ("F6: The bridge carries 40 tonnes and was finished after the war.", "at most"),
        ("F5, F6: Women rose from 9 to 5 percent, 2010 to 2020; at most 40 tonnes.", "order of 9, 5"),
    ],
)
def test_a_line_that_turns_its_fact_around_is_refused(text: str, why: str) -> None:
    refused = checked(text)
    assert isinstance(refused, str)
    assert why in refused


def test_signs_replaced_by_a_fence_are_compared_in_their_original_form() -> None:
    memory = a_session(
        Round([a_search("x", ("T", "(In 1990 she moved to the town of Calden, they say.)"))])
    ).memory
    summary = check_summary(a_summary('F1: "&#40;In 1990 she moved to the town of Calden".', ("F1",)), memory)
    assert isinstance(summary, Summary)
    assert summary.text == 'F1: "(In 1990 she moved to the town of Calden".'


@pytest.mark.parametrize("text", ["F1: x\n" * 201, "F1: " + "x" * 2_000], ids=["lines", "a line"])
def test_a_summary_that_is_too_long_is_refused(text: str) -> None:
    assert "more than" in str(check_summary(a_summary(text), a_memory()))


def test_a_summary_names_only_facts_that_it_was_given() -> None:
    refused = check_summary(a_summary("F3: They say it.", facts=("F1", "F2")), a_memory())
    assert refused == "It names facts that it was not given: F3."


def test_a_range_of_facts_names_each_of_them() -> None:
    text = 'F1-F3: Oslo, 40 EUR; 2024-05-01, Ann Lee, B-12; "nobody needs the second part".'
    summary = check_summary(a_summary(text), a_memory())
    assert isinstance(summary, Summary)
    assert ids_in(summary.facts) == ("F1", "F2", "F3")


_strange = st.one_of(
    hostile_text,
    st.lists(
        st.sampled_from(
            ["F1", "F2", ", ", "-", "–", ":", " ", "\n", "F999999999", "40", "Ann", '"', "“", ".,", "\x85"]
        ),
        max_size=80,
    ).map("".join),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(_strange)
def test_any_summary_of_the_model_is_accepted_or_refused(text: str) -> None:
    memory = a_memory()
    outcome = check_summary(a_summary(text), memory)
    assert outcome if isinstance(outcome, str) else set(ids_in(outcome.facts)) <= set(memory.facts)


@pytest.mark.parametrize(
    "text",
    [
        "F1" * 200_000,
        "F1, " * 200_000,
        "F1," * 200_000 + ": x",
        "F1-F999999999: x",
        "F1: " + '"' * 200_000,
        "F1: " + "40." * 200_000,
        "F1: " + "A" * 400_000,
        "F1: " + "Ann Lee " * 100_000,
        "\n" * 400_000,
        "- * " * 100_000,
        "F1," + " " * 1_900 + "x",
    ],
    ids=lambda text: text[:12],
)
def test_a_huge_summary_is_refused(text: str) -> None:
    assert check_summary(a_summary(text), a_memory())


def much_more_than_fits(count: int = 900) -> Session:
    entries = [
        (f"Course {n}", f"Course number {n} on mcp is held in room {n * 3} of the house by the old harbour.")
        for n in range(count)
    ]
    rounds = [Round([a_search("mcp courses", *entries[start : start + 90])]) for start in range(0, count, 90)]
    return a_session(*rounds)


def test_facts_to_summarize_are_bounded_and_not_shown() -> None:
    session = much_more_than_fits()
    session_index = session.session_index(1_000)
    briefing = session_index.briefing(11, 12)
    left = session_index.to_summarize(briefing)
    assert left is not None
    text, wanted = left
    assert wanted.source == digest_of(text)
    assert SOURCE_TOKENS_MIN <= wanted.tokens == estimate_tokens(text) <= SOURCE_TOKENS_MAX
    assert wanted.tokens_max < wanted.tokens / 2
    named = set(ids_in(wanted.facts))
    assert not named & set(ids_in(briefing.outline.shown))
    assert all(f"\n{id} " in text for id in named)
    assert all(session_index.memory.facts[id].statement in text for id in named)


def test_a_superseded_fact_is_not_summarized() -> None:
    session = much_more_than_fits(180)
    session_index = session.session_index(1_000)
    first = session_index.to_summarize(session_index.briefing(3, 12))
    assert first is not None
    old = ids_in(first[1].facts)[:5]
    newest = list(session_index.memory.facts.values())[-1]
    later = newest.model_copy(update={"id": "F181", "statement": "All of mcp has moved.", "supersedes": old})
    session_index.add(MemoryDelta(facts=(later,)))
    second = session_index.to_summarize(session_index.briefing(3, 12))
    assert second is not None
    assert not set(old) & set(ids_in(second[1].facts))


def test_a_summarized_fact_is_not_summarized_again() -> None:
    session = much_more_than_fits()
    session_index = session.session_index(1_000)
    first = session_index.to_summarize(session_index.briefing(11, 12))
    assert first is not None
    session_index.add(MemoryDelta(summaries=(Summary(round=11, text="F1: ...", facts=first[1].facts),)))
    second = session_index.to_summarize(session_index.briefing(11, 12))
    assert second is not None
    assert not set(ids_in(first[1].facts)) & set(ids_in(second[1].facts))


def test_nothing_is_summarized_while_everything_is_shown() -> None:
    session_index = a_session(
        Round([a_search("mcp", ("T", "A statement about mcp courses."))])
    ).session_index()
    assert session_index.to_summarize(session_index.briefing(2, 9)) is None


@settings(max_examples=30, deadline=None)
@given(sessions(), st.integers(150, 3_000))
def test_few_tokens_of_left_out_facts_are_not_summarized(session: Session, tokens: int) -> None:
    session_index = session.session_index(tokens)
    left = session_index.to_summarize(session_index.briefing(9, 9))
    assert left is None or left[1].tokens >= SOURCE_TOKENS_MIN
