"""Older rounds' words get shorter as rounds go by, and the intent is kept as it changes."""

from antiphon_shared.memory.session_memory import Memory

from context_synthesizer.page import Pieces, TokenBudget, title_units
from context_synthesizer.render import Piece, question_lines
from context_synthesizer.side_sections import Section, notes_by_age, notes_section
from tests.memories import a_memory, a_round


def words(number: int, *lines: str) -> str:
    noted = "\n".join((f"concluded: Point {number}a.", f"concluded: Point {number}b.", "plan: go on", *lines))
    return f"I look at part {number}.\n<note>\n{noted}\n</note>"


def after(rounds: int, *lines: str) -> Memory:
    done = [a_round(round=number, text=words(number)) for number in range(1, rounds)]
    question = "Which hotel in Rome is under 200 euros without breakfast?"
    return a_memory(*done, a_round(round=rounds, text=words(rounds, *lines)), question=question)


def test_the_newest_note_is_whole_and_older_ones_are_shortened_by_age() -> None:
    notes = after(5).reasoning
    first, second, third, fourth, fifth = (piece.text for piece in notes_by_age(notes, Pieces()))
    assert "I look at part 5." in fifth
    assert "plan: go on" in fifth
    for number, text in ((3, third), (4, fourth)):
        assert text == f"- round {number}: concluded: Point {number}a.\n  concluded: Point {number}b."
    assert (first, second) == ("- round 1: Point 1a. Point 1b.", "- round 2: Point 2a. Point 2b.")


def test_a_round_is_shortened_with_age_and_never_lengthened() -> None:
    sizes = [notes_by_age(after(rounds).reasoning, Pieces())[0].units for rounds in range(1, 6)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[1] > sizes[3]


def test_the_notes_section_stays_within_a_small_budget() -> None:
    budget = TokenBudget(5_000)
    section = notes_section(after(5).reasoning, Pieces(), budget)
    assert budget.left >= 0
    assert section.texts == notes_section(after(5).reasoning, Pieces(), TokenBudget(5_000)).texts


def test_the_intent_starts_from_the_question_and_lists_the_changes_of_each_note() -> None:
    first, second = after(
        2, "goal: the cheapest room", "constraint: near the station", "open: Which street?"
    ).intents
    assert first.round == 1
    assert first.goal == "Which hotel in Rome is under 200 euros without breakfast?"
    assert first.constraints == ("under 200 euros without breakfast",)
    assert first.changed == ()
    assert (second.round, second.goal) == (2, "the cheapest room")
    assert "near the station" in second.constraints
    assert {"goal: the cheapest room", "constraint: near the station", "open: Which street?"} < set(
        second.changed
    )


def test_a_round_that_changes_nothing_files_no_intent() -> None:
    assert [intent.round for intent in after(3).intents] == [1]


def test_the_briefing_shows_goal_constraints_and_how_much_changed() -> None:
    still, changed = question_lines(after(2, "goal: the cheapest room", "constraint: near the station"))
    assert [piece.text for piece in still][:2] == [
        "- goal: the cheapest room",
        "- constraint: near the station",
    ]
    assert [piece.text for piece in changed] == ["- changed in round 2: 1 goal, 1 constraint"]


def test_a_section_keeps_the_pieces_that_fit_and_reports_whether_all_did() -> None:
    small, large = Piece("small"), Piece("large " * 50)
    title = title_units("Tried")
    for units, shown in (
        (title + small.units, ["small"]),
        (title, []),
        (title + small.units + large.units, ["small", large.text]),
    ):
        section = Section("Tried", TokenBudget(units))
        assert (section.add_all((small, large)), section.texts) == (len(shown) == 2, shown)
