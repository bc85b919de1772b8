"""A page never exceeds its budget, and its cost is that of its text."""

from random import Random

from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.tokens import token_units
from hypothesis import given, settings
from hypothesis import strategies as st

from context_synthesizer.page import Page, Pieces, TokenBudget, names_title
from context_synthesizer.render import render
from tests.context_synthesizer.builders import Round, Session, a_search, a_session
from tests.context_synthesizer.drawn import sessions
from tests.context_synthesizer.reading import read
from tests.memories import a_memory, a_round

_UNITS = 10**9


@settings(max_examples=40, deadline=None)
@given(sessions(), st.randoms(use_true_random=False), st.integers(0, 100_000), st.booleans())
def test_a_page_takes_as_many_units_as_its_text_costs(
    session: Session, order: Random, units: int, by_call: bool
) -> None:
    memory, pieces = session.memory, Pieces()
    facts = list(memory.facts.values())
    order.shuffle(facts)
    budget = TokenBudget(units)
    page = Page("Facts", memory, pieces, budget, by_call)
    for number, fact in enumerate(facts):
        left = budget.left
        if not page.show(fact, is_short=number % 3 == 0):
            assert budget.left == left
            assert fact.id not in page.lines
    assert budget.left >= 0
    if page.lines:
        # An empty line follows the last line of a section; its cost is in the title's.
        assert units - budget.left == token_units(render([("Facts", page.texts)]) + "\n\n")
    else:
        assert budget.left == units
        assert page.texts == []


def a_page(session: Session, *ids: str, short: tuple[str, ...] = (), by_call: bool = False) -> Page:
    memory = session.memory
    page = Page("Facts", memory, Pieces(), TokenBudget(_UNITS), by_call)
    for id in ids:
        page.show(memory.facts[id], is_short=id in short)
    return page


def two_calls() -> Session:
    return a_session(
        Round([a_search("mcp", ("Courses", "MCP is taught in Oslo now. Ann Lee teaches it in spring."))]),
        Round([a_search("lee", ("Teachers", "Ann Lee lives in Berlin now."))]),
    )


def test_facts_are_ordered_by_id_regardless_of_arrival() -> None:
    page = a_page(two_calls(), "F3", "F2", "F1")
    assert page.texts == [
        '<result trust="tool">',
        "## Courses",
        "F1 MCP is taught in Oslo now.",
        "F2 Ann Lee teaches it in spring.",
        "## Teachers",
        "F3 Ann Lee lives in Berlin now.",
        "</result>",
    ]


def test_a_fact_without_a_title_is_not_placed_below_another_title() -> None:
    session = a_session(
        Round([("search", {"query": "mcp"}, [{"title": "Courses", "text": "MCP is taught in Oslo now."}])]),
        Round([("search", {"query": "lee"}, "Ann Lee lives in Berlin now.")]),
    )
    assert a_page(session, "F1", "F2").texts == [
        '<result trust="tool">',
        "F2 Ann Lee lives in Berlin now.",
        "## Courses",
        "F1 MCP is taught in Oslo now.",
        "</result>",
    ]


def test_each_call_of_a_growing_page_has_its_own_fence() -> None:
    page = a_page(two_calls(), "F3", "F2", "F1", by_call=True)
    assert page.texts == [
        '<result call="toolu_10" tool="search" round="1" trust="tool">',
        "## Courses",
        "F1 MCP is taught in Oslo now.",
        "F2 Ann Lee teaches it in spring.",
        "</result>",
        '<result call="toolu_20" tool="search" round="2" trust="tool">',
        "## Teachers",
        "F3 Ann Lee lives in Berlin now.",
        "</result>",
    ]


def test_a_fact_that_is_no_longer_than_its_short_form_does_not_count_as_shortened() -> None:
    page = a_page(two_calls(), "F1", short=("F1",))
    assert page.shortened == set()


def test_a_long_fact_in_its_short_form_counts_as_shortened() -> None:
    long = "MCP is taught " + "in a room by the harbour " * 12 + "now."
    page = a_page(a_session(Round([a_search("mcp", ("Courses", long))])), "F1", short=("F1",))
    assert page.shortened == {"F1"}
    assert page.texts[2].startswith("F1 (shortened) MCP is taught in a room")
    assert page.texts[2].endswith("…")


def test_a_page_of_every_fact_reads_back_as_every_fact() -> None:
    session = two_calls()
    assert set(read(session.briefing(), session.query).facts) == set(session.memory.facts)


def test_a_cached_page_shows_the_changed_status_of_a_fact() -> None:
    first = a_search("price", ("MCP course", "The MCP course costs 40 EUR since 2021."))
    second = a_search("price", ("MCP course", "The MCP course costs 55 EUR since 2024."))
    session, pieces = a_session(Round([first]), Round([second], supersedes=[(0, 1)])), Pieces()
    before, after = a_session(Round([first])).memory, session.memory
    assert pieces.line(before, before.facts["F1"], is_short=False).text.startswith("F1 The MCP")
    assert pieces.line(after, after.facts["F1"], is_short=False).text.startswith("F1 (superseded by F2) The")


def a_page_of(memory: Memory, *, by_call: bool = False) -> Page:
    """Return a page with all facts of a memory."""
    page = Page("Facts", memory, Pieces(), TokenBudget(_UNITS), by_call)
    assert all(page.show(fact) for fact in memory.facts.values())
    return page


def test_untrusted_and_trusted_results_of_one_tool_never_share_a_fence() -> None:
    first, second = (
        a_round(("search", {"q": n}, f"The {n} is open to guests."), round=r)
        for r, n in ((1, "house"), (2, "pier"))
    )
    page = a_page_of(a_memory(first, second, untrusted=["toolu_20"]))
    assert [line for line in page.texts if line.startswith("<result")] == [
        '<result trust="tool">',
        '<result trust="untrusted">',
    ]


def test_a_statement_that_repeats_its_title_omits_the_heading_when_space_is_short() -> None:
    text = "Aker Works makes ships in Norwick. It was founded in 1931 by two brothers."
    memory = a_memory(a_round(("search", {"query": "x"}, [{"title": "Aker Works", "text": text}])))
    assert a_page_of(memory).texts[1:4] == [
        "F1 Aker Works makes ships in Norwick.",
        "## Aker Works",
        "F2 It was founded in 1931 by two brothers.",
    ]
    assert a_page_of(memory, by_call=True).texts[1:3] == [
        "## Aker Works",
        "F1 Aker Works makes ships in Norwick.",
    ]


def test_a_statement_names_a_title_by_its_last_name_and_a_date_as_a_whole() -> None:
    assert names_title("Ziegler was born in Oslo.", "Ron Ziegler (politician)")
    assert not names_title("The university was founded in 1904.", "University of Leeds")
    assert not names_title("Ann: I leave in October.", "Session 3, 24 October 2022")
    assert names_title("the colour of moss is green", "moss")
    assert not names_title('{"title": "The Starter"}', "Bread from Scratch: The Starter", is_record=True)
