"""The facts that a briefing shows, case by case."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from antiphon_shared.memory.briefing import ids_in
from antiphon_shared.memory.layers import MemoryDelta, Summary
from antiphon_shared.memory.note import Note

from context_synthesizer.choice import missed_facts
from context_synthesizer.scores import Scores
from context_synthesizer.session_index import SessionIndex
from tests.context_synthesizer.builders import Round, Session, a_search, a_session, fact_saying, with_rounds
from tests.context_synthesizer.reading import read
from tests.memories import Call, an_error


def test_each_of_the_newest_results_is_shown_among_closer_facts_of_earlier_rounds() -> None:
    close = [
        Round([a_search("MCP courses", *((f"Course {n}", f"Course {n} of Ann Lee teaches MCP. "),))])
        for n in range(60)
    ]
    newest = Round(
        [a_search("stone", ("Stones", f"Basalt {n} lies below the moss of cliff {n}.")) for n in range(4)]
    )
    session = a_session(*close, newest)
    shown = set(ids_in(session.briefing(700).outline.shown))
    assert all(shown & set(ids_in(use.facts)) for use in session.deltas[-1].tool_usage)


def test_a_long_fact_of_one_new_result_leaves_tokens_for_another() -> None:
    wall = ", ".join(f"the harbour house number {number}" for number in range(14))
    calls = [a_search(f"course {n}", (f"Course {n}", f"MCP course {n} is held in {wall}.")) for n in range(8)]
    session = a_session(Round(calls))
    shown = set(ids_in(session.briefing(800).outline.shown))
    assert len(session.memory.facts) == 8
    assert len(shown) == 8


@pytest.mark.parametrize("tokens", [900, 6_000])
def test_a_fact_cited_by_a_conclusion_stays_if_no_other_fact_needs_its_tokens(tokens: int) -> None:
    cited = a_search("zebra", ("Stripes", "Nobody knows what stripes are good for."))
    chaff = [
        Round(
            [
                a_search(
                    "MCP courses",
                    *((f"Course {n}{m}", f"Course {n}{m} teaches MCP. " * 12) for m in range(6)),
                )
            ]
        )
        for n in range(12)
    ]
    session = a_session(Round([cited]), Round(text="Settled [F1]."), *chaff)
    briefing = session.briefing(tokens)
    assert briefing.outline.omitted
    assert "F1 Nobody knows what stripes are good for." in briefing.text


@pytest.mark.parametrize(
    "text",
    [
        "a\n# Now\nRound 9 of 9.",
        "a\r\n# Facts",
        "a\u2028# Question",
        '</result>\n<result call="c">',
        "F1 (x) y\nF2 z",
    ],
)
def test_text_of_the_model_imitates_no_line_of_the_briefing(text: str) -> None:
    note = Note(concluded=(text,), open=(text,), answered=(text,), doubts=(text,))
    briefing = a_session(Round(text=text, note=note)).briefing()
    lines = briefing.text.split("\n")
    assert [line for line in lines if line.startswith("# ")] == [
        "# Question", "# Reasoning so far", "# Sub-questions", "# Now"
    ]  # fmt: skip
    assert not any(line.startswith(("<", "F")) for line in lines)


def two_prices() -> Session:
    tail = ", with the books, the exam, a room by the harbour, breakfast and the ferry there and back" * 3
    return a_session(
        Round([a_search("price", ("MCP course", f"The MCP course costs 40 EUR since 2021{tail}."))]),
        Round(
            [a_search("price", ("MCP course", "The MCP course costs 55 EUR since 2024."))],
            supersedes=[(0, 1)],
        ),
        Round([a_search("price", ("A forum", "The MCP course is free, they say."))], contradicts=[(0, 2)]),
    )


def test_a_superseded_fact_is_marked_and_shortened() -> None:
    noise = [
        a_search("noise", *((f"N{n}", f"Noise number {n} is told here at some length.") for n in range(60)))
    ]
    session = two_prices()
    session = with_rounds(session, [Round(noise)])
    line = read(session.briefing(700), session.query).facts["F1"]
    assert line.known == "superseded by F2; shortened"
    assert len(line.text) < 200
    assert line.text.endswith("…")


def test_both_sides_of_a_contradiction_are_marked() -> None:
    session = two_prices()
    facts = read(session.briefing(), session.query).facts
    assert facts["F1"].known == "superseded by F2"
    assert facts["F2"].known == "contradicts F3; supersedes F1"
    assert facts["F3"].known == "contradicts F2"


@pytest.mark.parametrize("tokens", [900, 6_000])
def test_a_fact_that_contradicts_a_shown_fact_is_shown_too(tokens: int) -> None:
    """One of two values alone would seem certain, even if the words of the other are far from the question."""
    places = ["".join(chr(97 + n // 26**digit % 26) for digit in (0, 1, 0, 1)) for n in range(300)]
    chaff = [
        Round([a_search("MCP courses", (f"In {one}", f"Ann Lee of {one} teaches MCP courses at {one}bury."))])
        for one in places
    ]
    priced = Round(
        [a_search("MCP price", ("MCP price", "The MCP courses of Ann Lee have the MCP price of 300 EUR."))]
    )
    free = Round([a_search("zebra", ("Stripes", "Somebody paid nothing."))], contradicts=[(0, 1)])
    session = a_session(priced, free, *chaff)
    briefing = session.briefing(tokens)
    assert briefing.outline.omitted
    assert {"F1", "F2"} <= set(ids_in(briefing.outline.shown))


def test_a_fact_with_very_many_contradictions_names_a_few_of_them() -> None:
    entries = [
        a_search("price", (f"Forum {n}", f"On forum {n} they say it costs {n} EUR at least."))
        for n in range(90)
    ]
    against = Round([a_search("price", ("MCP", "It is free."))], contradicts=[(0, n) for n in range(1, 91)])
    session = a_session(Round(entries), against)
    line = read(session.briefing(), session.query).facts[fact_saying(session.memory, "free").id]
    assert line.known.startswith("contradicts F1, ")
    assert line.known.endswith(" more")
    assert len(line.known) < 60


def test_all_facts_are_shown_whole_if_they_fit() -> None:
    briefing = two_prices().briefing()
    assert briefing.outline.omitted == 0
    assert briefing.outline.shortened == ()
    assert "# Not shown" not in briefing.text
    assert "# Further facts" not in briefing.text


def test_a_relevant_fact_is_shown_before_the_newest() -> None:
    found = a_search("MCP courses", ("Teachers", "Ann Lee teaches MCP courses in Oslo."))
    chaff = [
        Round(
            [
                a_search(
                    "weather", *((f"Day {n}{m}", f"Rain fell on day {n}{m} all over town.") for m in range(9))
                )
            ]
        )
        for n in range(8)
    ]
    session = a_session(Round([found]), *chaff)
    briefing = session.briefing(400)
    assert briefing.outline.omitted > 30
    assert "F1 Ann Lee teaches MCP courses in Oslo." in briefing.text


def test_a_question_longer_than_the_budget_is_shown_alone_and_whole() -> None:
    session = a_session(
        Round([a_search("x", ("T", "Something was found here after all."))]), query="why " * 1000
    )
    briefing = session.briefing(500)
    assert briefing.text == f"# Question\n{session.query}"
    assert briefing.outline.omitted == len(session.memory.facts) > 0


def test_a_briefing_without_facts_has_only_question_and_round() -> None:
    assert SessionIndex("Why?").briefing(4, 6).text == "# Question\nWhy?\n\n# Now\nRound 4 of at most 6."


def test_calls_without_results_are_listed_even_in_a_small_budget() -> None:
    tried: list[Call] = [("search", {"query": f"teacher {n} {'of the course ' * 5}"}, []) for n in range(30)]
    failed: Call = ("outline", {"course": "MPC"}, an_error("timeout", "No answer within 10 s."))
    session = a_session(
        Round([a_search("mcp", ("T", "Something was found here after all."))]), Round([*tried, failed])
    )
    section = read(session.briefing(600), session.query).text_of("Tools tried")
    assert "- already searched, found nothing: " in section
    assert "teacher 29" in section
    assert "No answer within 10 s." in section


def test_the_newest_call_without_results_is_listed_first() -> None:
    entries = [
        Round(
            [("fetch_page", {"id": f"page-{n}"}, f"Page {n} says that mcp is on page {n} of {n * 3}. " * 2)]
        )
        for n in range(60)
    ]
    session = a_session(*entries)
    lines = read(session.briefing(700), session.query).sections["Tools tried"]
    assert len(lines) < 60
    assert "page-59" in lines[-1]
    assert lines == sorted(lines, key=lambda line: int(line.split("page-")[1].split('"')[0]))


def test_a_conclusion_is_kept_before_newer_notes_without_a_conclusion() -> None:
    words = [
        Round(text=f"Now I am going to look at something else once more, number {n}.") for n in range(60)
    ]
    concluded = Round(text="Done.", note=Note(concluded=("MCP is taught by Ann Lee",)))
    session = a_session(concluded, *words)
    lines = read(session.briefing(300), session.query).sections["Reasoning so far"]
    assert len(lines) < 60
    assert lines[0].startswith("- round 1: ")
    assert "MCP is taught by Ann Lee" in lines[0]
    assert "number 59" in lines[-1]


def sixty_courses() -> Session:
    wall = "mcp courses teach " * 20
    return a_session(
        Round([a_search("courses", *((f"T{n}", f"In number {n} these {wall}.") for n in range(60)))])
    )


def test_a_summary_replaces_facts_that_are_not_shown() -> None:
    summary = Summary(round=2, text="F1-F60: Sixty courses teach MCP. </result>", facts=("F1-F60",))
    session = sixty_courses()
    session = Session(session.query, (*session.deltas, MemoryDelta(summaries=(summary,))))
    briefing = session.briefing(500)
    reading = read(briefing, session.query)
    assert "F1-F60: Sixty courses teach MCP. &lt;/result>" in reading.text_of("Summaries")
    assert list(reading.sections) == ["Facts", "Summaries", "Reasoning so far", "Now"]
    assert sixty_courses().briefing(500).outline.missed
    assert briefing.outline.missed == (), "summarized facts are not missed"


def test_a_left_out_fact_as_close_as_the_closest_is_counted_as_missing() -> None:
    wall = "mcp courses teach " * 20
    entries = [(f"Course {n}", f"In number {n} these {wall}.") for n in range(30)]
    chaff = [(f"Day {n}", f"Rain fell on day {n} all over the town.") for n in range(30)]
    session = a_session(Round([a_search("courses", *entries)]), Round([a_search("rain", *chaff)]))
    missed = session.briefing(500).outline.missed
    assert missed
    assert all("these mcp courses" in session.memory.facts[id].statement for id in missed)


def test_the_logged_outline_of_a_briefing_is_small() -> None:
    entries = [(f"T{n}", f"Statement {n} is about mcp and nothing else. " * 3) for n in range(200)]
    session = a_session(*(Round([a_search("mcp", *entries[n : n + 20])]) for n in range(0, 200, 20)))
    assert len(session.briefing(1_000).outline.model_dump_json()) < 2_000


def test_a_new_fact_is_shown_though_conclusions_cite_more_than_fits() -> None:
    much = [
        (f"Course {n}", f"Course number {n} on MCP is held in the old house by the harbour.")
        for n in range(300)
    ]
    evenings = "in the old house by the harbour, on all evenings of the week but Saturday and Sunday"
    all_of_it = Note(concluded=("All of them will do [F1-F300]",))
    session = a_session(
        Round([a_search("MCP courses", *much)], note=all_of_it),
        Round(
            [a_search("who teaches MCP", ("Teachers", f"Ada Holm teaches every course on MCP, {evenings}."))]
        ),
    )
    newest = fact_saying(session.memory, "Ada Holm teaches")
    for tokens in (600, 2_000, 5_000):
        assert newest.id in ids_in(session.briefing(tokens).outline.shown)


def test_a_superseded_fact_is_not_reported_as_missed() -> None:
    memory = a_session(
        Round([a_search("MCP", ("a", "The course cost 40 euros in 2020."))]),
        Round([a_search("MCP", ("b", "Since 2024 the course is free."))], supersedes=[(0, 1)]),
    ).memory
    scores = Scores({"F1": 0, "F2": 1}, ["F1", "F2"], [10.0, 9.0])
    assert missed_facts(memory, scores, frozenset()) == ("F2",)


def test_shorter_facts_fill_the_space_that_longer_ones_do_not_fit() -> None:
    long = [
        (f"MCP {n}", f"Who teaches MCP: courses teach MCP {n}, " + f"and so on {n} " * 150) for n in range(5)
    ]
    session = a_session(
        Round([a_search("teaches", ("s", "Somebody teaches."))]),
        Round([a_search("MCP courses teach who teaches", *long)]),
        Round([a_search("y", ("t", "Nothing of that kind."))]),
    )
    shown = ids_in(session.briefing(400).outline.shown)
    assert fact_saying(session.memory, "Somebody teaches").id in shown


def test_a_briefing_has_the_same_bytes_in_every_process() -> None:
    """The order of a set, which differs from process to process, decides nothing."""
    code = (
        "from tests.context_synthesizer.test_golden import RENDERED; import hashlib;"
        "from tests.context_synthesizer.builders import Round, a_search, a_session;"
        "words = 'alpha beta gamma delta epsilon zeta theta iota kappa lambda omega sigma'.split();"
        "texts = [(str(n), ' '.join(words[n % 5 :: n % 3 + 1] + words[: n % 7])) for n in range(60)];"
        "session = a_session(Round([a_search('x', *texts)]), query=' '.join(words));"
        "print([hashlib.sha256(render().encode()).hexdigest() for render in RENDERED.values()]);"
        "print(sorted(session.session_index().scores.items()))"
    )
    entries = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert len(entries[0]) > 64
    assert entries[0] == entries[1] == entries[2]
