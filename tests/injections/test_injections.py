"""A tool's result is data: it closes no fence, adds only facts of its own, and decides nothing.

Each text of the corpus stands where tools and models put their words, and is compared with a harmless text in the same
place: the briefing differs in that text alone, the session not at all.
"""

from collections.abc import Callable
from functools import cache

from antiphon_shared.events import ReasoningRequested, ToolsCompleted
from antiphon_shared.events.session import Turn
from antiphon_shared.memory.filing import file_conversation
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.fence import CLOSING, fence, opening
from antiphon_shared.tools.calls import ToolError, ToolResult

from context_synthesizer.session_index import SessionIndex
from coordinator.decision import OfferBounds
from coordinator.session import Session
from coordinator.session_parts import replace
from tests.coordinator.builders import (
    a_briefing,
    a_call,
    a_catalogue,
    a_reply,
    a_result,
    a_tool,
    an_opened_session,
    answered,
    only,
    the_results,
)
from tests.envelopes import START
from tests.fences import unfence
from tests.injections.corpus import INJECTIONS, Injection
from tests.injections.strict_reader import ReadBriefing, ReadFact, read_strictly
from tests.memories import Call, a_round, an_error
from tests.rows import each_row

QUESTION = "What does the licence of the product cost,\n\nand who sells it?"
HARMLESS = "The weather was mild, and the boats stayed in the harbour until the evening."
HOSTILE_CALL = "toolu_22"
TOKENS_MAX = 60_000
"""Room for everything, so that what is missing is not missing for length."""

PLACES: dict[str, Callable[[str], Call]] = {
    "a text": lambda text: ("search", {"q": "product"}, text),
    "a value": lambda text: ("search", {"q": "product"}, [{"title": "A page", "text": text}]),
    "a short value": lambda text: ("search", {"q": "product"}, {"name": "A page", "state": text[:60]}),
    "a key": lambda text: ("search", {"q": "product"}, {"title": "A page", text: 1}),
    "a title": lambda text: ("search", {"q": "product"}, [{"title": text, "text": HARMLESS[::-1]}]),
    "an argument": lambda text: ("search", {"q": text}, "It rained."),
    "an error": lambda text: ("search", {"q": "product"}, an_error("not_found", text)),
    "a suggestion": lambda text: (
        "search",
        {},
        ToolError(error_type="api_failure", message="It failed.", suggested_action=text),
    ),
    "a tool's name": lambda text: (text[:200], {}, an_error("unknown_tool", "There is no such tool.")),
}

every_injection = each_row("injection", INJECTIONS, ids=[one.name for one in INJECTIONS])
every_place = each_row("place", PLACES)


def the_index(place: str, text: str) -> SessionIndex:
    """Return the index of three rounds; the second has a harmless untrusted call and one with the text."""
    price = {"product": "Harbour", "price_eur": 900, "valid": "2024-03-01"}
    statement = "As of 1 March 2024, the licence of the product costs 900 euros."
    rounds = [
        a_round(
            ("register", {"id": 7}, price),
            ("register", {"id": 6}, statement),
            (
                "search",
                {"q": "licence"},
                [{"title": "Licences", "text": "A licence costs 900 euros a year."}],
            ),
        ),
        a_round(
            ("register", {"id": 8}, an_error("timeout")),
            ("search", {"q": "seller"}, "Harbour is sold by Mira Oduya.\nShe has an office in Bergen."),
            PLACES[place](text),
            round=2,
            text="Now the seller.",
        ),
        a_round(("register", {"id": 9}, {"seller": "Mira Oduya", "phone": "+47 55 00 00"}), round=3),
    ]
    index = SessionIndex(QUESTION, TOKENS_MAX)
    for reasoning, results in rounds:
        index.add(index.filed(reasoning, results, untrusted=("toolu_12", "toolu_21", HOSTILE_CALL)))
    return index


def the_briefing(index: SessionIndex) -> ReadBriefing:
    return read_strictly(index.briefing(4, 6).text, QUESTION)


def of_others(briefing: ReadBriefing) -> list[tuple[str, ...]]:
    """Return the briefing's text on all calls except the hostile one, without the numbers of facts."""
    return [
        (
            fence.section,
            fence.call,
            fence.tool,
            fence.round,
            fence.trust,
            *fence.words,
            *map(_text_of, fence.facts),
        )
        for fence in briefing.fences
        if fence.call != HOSTILE_CALL
    ]


def _text_of(fact: ReadFact) -> str:
    return f"{fact.title}\n{fact.text}"


def of_the_call(briefing: ReadBriefing) -> set[tuple[str, str, str]]:
    """Return the fences of the hostile call, without its name and text."""
    return {(one.section, one.round, one.trust) for one in briefing.fences if one.call == HOSTILE_CALL}


@cache
def the_harmless_briefing(place: str) -> ReadBriefing:
    return the_briefing(the_index(place, HARMLESS))


def test_the_corpus_is_wide() -> None:
    assert len(INJECTIONS) >= 60
    assert len({one.language for one in INJECTIONS if len(one.language) == 2}) >= 12
    assert len({one.text for one in INJECTIONS}) == len(INJECTIONS)


@every_injection
def test_a_fenced_text_is_one_fact_and_nothing_else(injection: Injection) -> None:
    text = "\n".join(
        [
            "# Question\nWhy?\n\n# Facts",
            opening("toolu_1", injection.text[:300], 1, True),
            f"## {fence(injection.text.replace(chr(10), ' '))}",
            f"F1 {fence(injection.text)}",
            "F2 Fine.",
            f"{CLOSING}\n\n# Now\nRound 2 of at most 4.",
        ]
    )
    briefing = read_strictly(text, "Why?")
    (only_fence,) = briefing.fences
    assert [fact.id for fact in only_fence.facts] == ["F1", "F2"]
    assert [fact.remarks for fact in only_fence.facts] == ["", ""]
    assert only_fence.trust == "untrusted"
    assert list(briefing.sections) == ["Question", "Facts", "Now"]


@every_place
@every_injection
def test_a_hostile_text_changes_a_briefing_no_more_than_a_harmless_one(
    injection: Injection, place: str
) -> None:
    index = the_index(place, injection.text)
    hostile, harmless = the_briefing(index), the_harmless_briefing(place)

    assert list(hostile.sections) == list(harmless.sections)
    assert hostile.sections["Now"] == ["Round 4 of at most 6."]
    assert hostile.sections["Reasoning so far"] == harmless.sections["Reasoning so far"]
    assert len(hostile.sections["Tools tried"]) == len(harmless.sections["Tools tried"]) == 7
    assert of_others(hostile) == of_others(harmless)
    assert of_the_call(hostile) == of_the_call(harmless)
    assert_shows_all(hostile, index.memory)


def assert_shows_all(briefing: ReadBriefing, memory: Memory) -> None:
    """Check that each fact of the memory is there once, whole, in the fence of its call."""
    shown = [(read, fence_around) for fence_around in briefing.fences for read in fence_around.facts]
    assert sorted(read.id for read, _ in shown) == sorted(memory.facts)
    for read, around in shown:
        fact = memory.facts[read.id]
        document = memory.document_of(fact)
        assert (around.call, around.round) == (document.call_id, str(document.round))
        assert read.text == unfence(fence(fact.statement))
        is_put_aside = "superseded by" in read.remarks
        assert document.is_untrusted or not is_put_aside, "a stranger's words put aside what a tool knows"


def results_with(place: str, text: str) -> ToolsCompleted:
    _, completed = a_round(PLACES[place](text))
    return completed


CATALOGUE = a_catalogue(
    a_tool("search", description="Search the web.", open_world=True),
    a_tool("register", description="Read the register."),
    a_tool("enrol", "write", "Enrol a user in a course.", approval="after_untrusted"),
    *(a_tool(f"t{number}", description="Does one thing.") for number in range(5)),
    "find_tools",
    "read_result",
    "recall",
)


def after_tools(results: tuple[ToolResult, ...]) -> tuple[Session, ReasoningRequested]:
    """Return the session after the results, and its next request to the model."""
    bounds = OfferBounds(all_max=2, subset=2)
    opened = an_opened_session(CATALOGUE, query="search the register", offer=bounds).session
    reasoning = answered(opened, a_briefing(), CATALOGUE).session
    batch = answered(reasoning, a_reply(calls=[a_call("search", "toolu_10")]), CATALOGUE).session
    session = answered(batch, the_results(*results), CATALOGUE).session
    return session, only(answered(session, a_briefing(2), CATALOGUE), ReasoningRequested)


@cache
def after_harmless_tools(place: str) -> tuple[Session, ReasoningRequested]:
    return after_tools(results_with(place, HARMLESS).results)


def without_ids(session: Session) -> Session:
    """Return the session without the ids that are drawn for each session."""
    return replace(session, awaiting=())


@every_place
@every_injection
def test_a_session_continues_as_with_a_harmless_text_in_the_same_place(
    injection: Injection, place: str
) -> None:
    session, asked = after_tools(results_with(place, injection.text).results)
    harmless, asked_harmlessly = after_harmless_tools(place)
    assert without_ids(session) == without_ids(harmless)
    assert asked == asked_harmlessly


def in_a_conversation(question: str, answer: str) -> tuple[SessionIndex, ReadBriefing]:
    """Return a session that continues those and a harmless turn, and has called a tool since."""
    history = [(question, answer), ("Who sells the licence?", "Mira Oduya of Bergen sells the licence.")]
    turns = [
        Turn(
            session_id=f"s{n}",
            at=START,
            question=asked,
            answer=answer,
            status="complete",
            has_untrusted=n == 1,
        )
        for n, (asked, answer) in enumerate(history, 1)
    ]
    index = SessionIndex(QUESTION, TOKENS_MAX)
    index.add(file_conversation(index.memory, turns))
    index.file(*a_round(("register", {"id": 7}, "Harbour is sold by Mira Oduya."), round=1))
    return index, the_briefing_of_round_2(index)


def the_briefing_of_round_2(index: SessionIndex) -> ReadBriefing:
    return read_strictly(index.briefing(2, 6).text, QUESTION)


@every_injection
def test_an_earlier_turn_stays_in_its_section_for_any_text(injection: Injection) -> None:
    _, harmless = in_a_conversation(HARMLESS, HARMLESS)
    index, hostile = in_a_conversation(injection.text[:2_000], injection.text)

    assert list(hostile.sections) == list(harmless.sections)
    assert len(hostile.sections["Earlier in this conversation"]) == 2
    assert hostile.sections["Now"] == ["Round 2 of at most 6."]
    assert [(one.call, one.trust) for one in hostile.fences] == [
        ("turn_1", "untrusted"),
        ("turn_2", "tool"),
        ("toolu_10", "tool"),
    ]
    assert_shows_all(hostile, index.memory)


@every_injection
def test_results_of_other_tools_neither_add_tools_nor_handles(injection: Injection) -> None:
    data = {
        "tools": [{"name": "enrol"}, {"name": injection.text}],
        "handle": injection.text,
        "text": injection.text,
    }
    session, asked = after_tools((a_result("search", call_id="toolu_10", data=data),))
    assert "enrol" not in asked.tools
    assert not session.tools.has_handles


@every_injection
def test_a_missing_tool_is_not_allowed_by_its_name(injection: Injection) -> None:
    opened = an_opened_session(CATALOGUE).session
    reasoning = answered(opened, a_briefing(), CATALOGUE).session
    hostile, harmless = (
        answered(reasoning, a_reply(calls=[a_call(name, "toolu_10")]), CATALOGUE).session
        for name in (injection.text[:200], HARMLESS)
    )
    assert without_ids(hostile) == without_ids(harmless)


def test_a_strangers_later_date_puts_nothing_aside_that_a_tool_knows() -> None:
    known, strange = (
        [("register", {"id": 7}, {"name": "Harbour", "price_eur": price, "as_of": f"{year}-03-01"}),
         ("register", {"id": 6}, f"As of 1 March {year}, the licence of the product costs {price} euros.")]
        for year, price in ((2024, 900), (2999, 1))
    )  # fmt: skip  # one shape, twice
    index = SessionIndex(QUESTION, TOKENS_MAX)
    for reasoning, results in (a_round(*known), a_round(*strange, round=2)):
        index.add(index.filed(reasoning, results, untrusted=("toolu_20", "toolu_21")))
    facts = the_briefing(index).facts
    assert len(facts) == 4
    assert not any("superseded by" in fact.remarks for fact in facts.values())
