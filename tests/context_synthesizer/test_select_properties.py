"""The rules for every briefing: it is within its budget, true to its sources, and safe from text of tools."""

import re
from collections.abc import Iterable
from itertools import groupby, pairwise

from antiphon_shared.memory.briefing import Level, digest_of, ids_in
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.text.fence import fence
from antiphon_shared.text.tokens import UNITS_PER_TOKEN, estimate_tokens
from hypothesis import given, settings
from hypothesis import strategies as st

from context_synthesizer.page import Pieces
from context_synthesizer.render import question_lines, short_fact_line
from context_synthesizer.session_index import SessionIndex
from tests.context_synthesizer.builders import Round, Session, a_search, index_of, with_rounds
from tests.context_synthesizer.drawn import SHARES, budgets, levels, sessions
from tests.context_synthesizer.reading import ORDER, is_in, read, value_at
from tests.memories import Call

_often = settings(max_examples=15, deadline=None)
_seldom = settings(max_examples=12, deadline=None)


def tokens_within(session: Session, tokens: int, level: Level = "full") -> int:
    """Return the tokens left for facts, after the question, the round, and the frame of two sections."""
    frame = (
        f"# Question\n{session.query}\n\n# Now\nRound 100 of at most 100.\n\n# Facts\n\n# Further facts\n\n"
    )
    return tokens // SHARES[level] - estimate_tokens(frame)


@_often
@given(sessions(), budgets, levels)
def test_a_briefing_keeps_its_budget_and_begins_with_the_question(
    session: Session, tokens: int, level: Level
) -> None:
    briefing = session.briefing(tokens, level)
    assert briefing.outline.digest == digest_of(briefing.text)
    assert briefing.outline.tokens == estimate_tokens(briefing.text)
    assert briefing.text.startswith(f"# Question\n{session.query}")
    is_alone = briefing.text == f"# Question\n{session.query}"
    assert is_alone or briefing.outline.tokens <= tokens // SHARES[level]
    assert not is_alone or tokens_within(session, tokens, level) <= 0


@_often
@given(sessions(), budgets, levels)
def test_every_fact_is_either_shown_or_counted_as_left_out(
    session: Session, tokens: int, level: Level
) -> None:
    briefing, memory = session.briefing(tokens, level), session.memory
    shown, shortened = ids_in(briefing.outline.shown), ids_in(briefing.outline.shortened)
    reading = read(briefing, session.query)
    assert set(shown) == set(reading.facts)
    assert len(shown) + briefing.outline.omitted == len(memory.facts)
    assert {id for id, line in reading.facts.items() if "shortened" in line.known} == set(shortened)
    assert set(briefing.outline.missed) <= set(memory.facts) - set(shown)


@_often
@given(sessions(), budgets, levels)
def test_every_shown_fact_is_verbatim_and_resolves_to_its_source(
    session: Session, tokens: int, level: Level
) -> None:
    briefing, memory = session.briefing(tokens, level), session.memory
    for id, line in read(briefing, session.query).facts.items():
        fact = memory.facts[id]
        document = memory.document_of(fact)
        result = session.results[document.round, document.call_id]
        assert is_in(fact, value_at(result, fact.position))
        value_at(result, document.position)
        assert line.fence == '<result trust="tool">' or f'call="{document.call_id}"' in line.fence
        if id not in ids_in(briefing.outline.shortened):
            assert line.text == fence(fact.statement)


@_often
@given(sessions(), budgets, levels)
def test_sections_and_facts_are_in_their_fixed_order(session: Session, tokens: int, level: Level) -> None:
    reading = read(session.briefing(tokens, level), session.query)
    titles = list(reading.sections)
    assert titles == [title for title in ORDER if title in titles]
    for fences in reading.order.values():
        opened = [reading.facts[ids[0]].fence for ids in fences]
        assert len(set(opened)) == len(opened), "facts with the same fence are adjacent"
        assert is_sorted(min(map(number, ids)) for ids in fences)
        for ids in fences:
            below = [(title, list(run)) for title, run in groupby(ids, lambda id: reading.facts[id].title)]
            titles = [title for title, _ in below]
            assert len(set(titles)) == len(titles), "facts with the same title are adjacent"
            assert "" not in titles[1:]
            assert all(is_sorted(map(number, run)) for _, run in below)
            assert is_sorted(number(run[0]) for title, run in below if title)


def number(id: str) -> int:
    return int(id[1:])


def is_sorted(numbers: Iterable[int]) -> bool:
    return all(first < second for first, second in pairwise(numbers))


@_often
@given(sessions(), budgets, levels)
def test_omitted_facts_are_counted_and_one_is_named(session: Session, tokens: int, level: Level) -> None:
    briefing = session.briefing(tokens, level)
    reading = read(briefing, session.query)
    line = reading.text_of("Not shown") or reading.text_of("Now").partition("\n")[2]
    if not briefing.outline.omitted:
        assert not line
    elif tokens_within(session, tokens, level) > 1_000:
        assert line.removeprefix("- ").startswith(f"{briefing.outline.omitted} fact")
        named = line.rpartition('recall(id="')[2].partition('"')[0]
        assert named in session.memory.facts
        assert named not in ids_in(briefing.outline.shown)


@_often
@given(sessions(), budgets, levels)
def test_all_open_sub_questions_are_shown(session: Session, tokens: int, level: Level) -> None:
    still, _ = question_lines(session.memory)
    units = sum(piece.units for piece in still)
    if 4 * units <= tokens_within(session, tokens, level) * UNITS_PER_TOKEN:
        section = read(session.briefing(tokens, level), session.query).text_of("Sub-questions")
        assert all(piece.text in section for piece in still)


@_often
@given(sessions(rounds_min=1), budgets, levels)
def test_a_fact_of_each_of_the_newest_results_is_shown(session: Session, tokens: int, level: Level) -> None:
    memory = session.memory
    newest = [use for use in session.deltas[-1].tool_usage if use.facts]
    firsts = [memory.facts[ids_in(use.facts)[0]] for use in newest]
    cited = [memory.facts[id] for id in memory.cited]
    units = sum(short_fact_line(fact).units + 20_000 for fact in firsts)
    units += sum(Pieces().line(memory, fact, is_short=False).units + 20_000 for fact in cited)
    units += 2 * sum(piece.units for piece in question_lines(memory)[0])
    if 2 * units <= tokens_within(session, tokens, level) * UNITS_PER_TOKEN:
        shown = set(ids_in(session.briefing(tokens, level).outline.shown))
        assert all(shown & set(ids_in(use.facts)) for use in newest)


@_seldom
@given(sessions(), budgets, levels)
def test_an_index_grown_by_rounds_gives_the_same_bytes_as_one_read_from_the_list(
    session: Session, tokens: int, level: Level
) -> None:
    grown = SessionIndex(session.query, tokens)
    items: list[bytes] = []
    for number, delta in enumerate(session.deltas, 2):
        grown.add(delta)
        grown.briefing(number, 100, level)
        items.append(delta.model_dump_json(exclude_defaults=True).encode())
    again = index_of(session.query, map(MemoryDelta.model_validate_json, items), tokens)
    number = len(session.deltas) + 1
    assert grown.briefing(number, 100, level) == again.briefing(number, 100, level)
    assert grown.to_summarize(grown.briefing(2, 9)) == again.to_summarize(again.briefing(2, 9))


@_often
@given(sessions(rounds_min=1), st.integers(1, 5), st.integers(1, 60), st.integers(0, 5_000))
def test_irrelevant_rounds_never_remove_a_fact_that_is_cited(
    session: Session, rounds: int, passages: int, more_tokens: int
) -> None:
    memory = session.memory
    lines = [Pieces().line(memory, memory.facts[id], is_short=False) for id in memory.cited]
    # Twice the room that they need, and some for the stones, of which one round may cite a few.
    tokens = 4_000 + more_tokens + 2 * sum(line.units // UNITS_PER_TOKEN + 100 for line in lines)
    before = set(ids_in(session.briefing(tokens).outline.shown))
    more = with_rounds(session, [Round([stones(number, passages)]) for number in range(rounds)])
    assert memory.cited <= before
    assert memory.cited <= set(ids_in(more.briefing(tokens).outline.shown))


def stones(number: int, passages: int) -> Call:
    """Return a search that shares no word with any other."""
    section = [
        f"Basalt {number}x{n} lies below lichen, moss and a cliff, then a fjord." for n in range(passages)
    ]
    return a_search("stone", *((f"Stone {number}x{n}", line) for n, line in enumerate(section)))


@_often
@given(sessions(), budgets, levels)
def test_model_and_tools_open_no_fence_and_no_section(session: Session, tokens: int, level: Level) -> None:
    briefing = session.briefing(tokens, level)
    rest = briefing.text[len(f"# Question\n{session.query}") :]
    lines = rest.split("\n")
    assert rest.splitlines() == lines, "no line break but our own"
    opened = [line for line in lines if line.startswith("<result ")]
    closed = [line for line in lines if line == "</result>"]
    drawn = re.findall(r"(?i)<(\s*/)?\s*result(?![a-z0-9])", rest)
    assert len(opened) == len(closed) == drawn.count("") == len(drawn) / 2
    assert {line for line in lines if line.startswith("# ")} <= {f"# {title}" for title in ORDER}


@_seldom
@given(sessions(), st.integers(150, 12_000))
def test_a_simplified_briefing_has_no_reasoning_and_a_minimal_one_no_tool_usage(
    session: Session, tokens: int
) -> None:
    assert "Reasoning so far" not in read(session.briefing(tokens, "simplified"), session.query).sections
    minimal = read(session.briefing(tokens, "minimal"), session.query).sections
    assert not {"Reasoning so far", "Tools tried"} & set(minimal)
