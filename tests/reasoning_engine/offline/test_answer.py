"""The offline model's answers: quotations and citations, gaps, and searches without results."""

from typing import Any

import pytest

from reasoning_engine.offline.answer import SIGNATURE, compose
from reasoning_engine.offline.briefing_text import FactNote
from reasoning_engine.offline.plan import Situation
from reasoning_engine.offline.question import read_question
from reasoning_engine.offline.records import records_of
from reasoning_engine.offline.schema import Tool
from reasoning_engine.offline.tried import TriedCall

NOUNS = frozenset(("cours", "lesson"))


def a_fact(n: int, content: Any, **fields: Any) -> FactNote:
    id = f"F{n}"
    given = {"tool": "search", "call": f"c{n}", "round": 1, "ids": (id,), **fields}
    return FactNote(id=id, content=content, **given)


def a_call(
    *facts: str, tool: str = "search", outcome: str = "", message: str = "", **arguments: Any
) -> TriedCall:
    outcome = outcome or ("ok" if facts else "not_found")
    return TriedCall(1, tool, arguments, outcome, message, frozenset(facts))


def answer(
    question: str, *facts: FactNote, tried: tuple[TriedCall, ...] = (), tools: tuple[Tool, ...] = ()
) -> str:
    return compose(Situation(read_question(question, NOUNS), tools, records_of(facts), tried))


def quoted(text: str) -> list[str]:
    return [line.removeprefix("> ") for line in text.splitlines() if line.startswith("> ")]


def test_every_answer_ends_with_the_signature() -> None:
    for facts in ((), (a_fact(1, {"title": "Fugues", "text": "Voices imitate."}),)):
        assert answer("What is a fugue?", *facts).endswith(f"\n\n{SIGNATURE}")


def test_a_record_is_its_title_and_plain_values_in_a_line_and_its_text_quoted_below() -> None:
    content = {
        "title": "Fugues",
        "level": 3,
        "tags": ["bach", "counterpoint"],
        "none": None,
        "text": "A fugue has voices.",
    }
    text = answer("What is a fugue?", a_fact(1, content))
    assert "**Fugues** · level: 3 · tags: bach; counterpoint [F1]\n\n> A fugue has voices." in text
    assert "none" not in text


def test_a_text_of_facts_is_cited_sentence_by_sentence_and_not_as_a_whole() -> None:
    sentences = (("F1", "A fugue has voices."), ("F2", "They enter in turn."))
    fact = a_fact(1, "A fugue has voices.\nThey enter in turn.", sentences=sentences, ids=("F1", "F2"))
    text = answer("What is a fugue?", fact)
    assert "> A fugue has voices.\n> They enter in turn. [F1, F2]" in text
    assert "[F1]" not in text


def test_a_long_text_is_quoted_from_its_relevant_sentences() -> None:
    dull = "Nothing of note is reported about this quiet part of the long and winding coast. " * 8
    text = answer(
        "What is a fugue?", a_fact(1, {"text": f"{dull}A fugue has voices. They enter in turn. {dull}"})
    )
    assert "A fugue has voices." in quoted(text)[:2]
    assert "They enter in turn." in quoted(text)
    assert sum(map(len, quoted(text))) <= 420 + 1


def test_a_single_sentence_that_is_too_long_is_cut_off_with_a_sign() -> None:
    (line,) = quoted(answer("What is a fugue?", a_fact(1, {"text": "fugue" + " voices" * 100})))
    assert line.endswith("…")
    assert len(line) == 421


@pytest.mark.parametrize(("count", "end"), [(20, "i19"), (21, "i19; and 1 more"), (23, "i19; and 3 more")])
def test_a_shortened_list_states_the_number_of_omitted_items(count: int, end: str) -> None:
    content = {"title": "Fugues", "items": [f"i{n}" for n in range(count)]}
    assert f"{end} [F1]" in answer("What is a fugue?", a_fact(1, content))


def test_at_most_five_records_are_quoted_those_first_that_share_most_words() -> None:
    facts = [a_fact(n, {"title": f"Voices {n}", "text": f"About voices {n}."}) for n in range(1, 8)]
    best = a_fact(8, {"title": "Fugue", "text": "Of the fugue and its voices."})
    text = answer("Which voices has a fugue?", *facts, best)
    assert text.startswith("**Fugue**")
    assert len(quoted(text)) <= 5


def test_a_record_with_few_shared_words_is_not_quoted_next_to_a_better_one() -> None:
    best = a_fact(1, {"text": "The fugue has voices and a theme and an answer."})
    half = a_fact(2, {"text": "The fugue is old, as are its voices."})
    less = a_fact(3, {"text": "It is old."})
    text = answer("Of which voices, theme and answer is a fugue made?", best, half, less)
    assert "It is old." not in text


def test_only_the_last_successful_round_counts() -> None:
    early = a_fact(1, {"text": "A fugue is a piece of music."}, round=1)
    late = a_fact(2, {"text": "A fugue has voices."}, round=2)
    text = answer("What is a fugue?", early, late)
    assert "[F2]" in text
    assert "[F1]" not in text


def test_a_fact_named_in_the_question_comes_first_despite_fewer_shared_words() -> None:
    other = a_fact(
        1, {"title": "Rules of counterpoint", "text": "Lesson on rules of counterpoint and fugue."}
    )
    named = a_fact(2, {"title": "Gradus ad Parnassum", "text": "A book on counterpoint."})
    text = answer('What rules of counterpoint has the course "Gradus ad Parnassum"?', other, named)
    assert text.startswith("**Gradus ad Parnassum**")


def test_an_answer_without_facts_lists_the_calls_tried() -> None:
    failed, again = (
        a_call(message="It is out of order.\nAsk another.", query=one) for one in ("fugue", "fugues")
    )
    silent = a_call(tool="look_up", outcome="circuit_open")
    text = answer("What is a fugue?", tried=(failed, again, silent))
    assert text.startswith("I found nothing that answers this.")
    assert "Tried without success:\n\n- search: It is out of order.\n- look_up: circuit open\n" in text


def test_a_name_that_no_fact_mentions_is_reported_as_missing() -> None:
    text = answer("What does Kirnberger say of fugues?", a_fact(1, {"text": "A fugue has voices."}))
    assert "Nothing returned mentions “Kirnberger”" in text
    assert "“fugues”" not in text


def test_a_name_used_in_a_successful_call_is_not_reported_as_missing() -> None:
    fact = a_fact(1, {"text": "A fugue has voices."})
    call = a_call("F1", author="Kirnberger")
    assert "Nothing returned mentions" not in answer(
        "What does Kirnberger say of fugues?", fact, tried=(call,)
    )


def test_without_a_call_the_reason_depends_on_the_offered_tools() -> None:
    tool = Tool("weather", "Tells the weather.", {})
    assert "none that was offered fits the question" in answer("What is a fugue?", tools=(tool,))
    assert "No tool could be called in the only round there was." in answer("What is a fugue?")


def test_a_comparison_quotes_the_closest_match_and_names_others() -> None:
    pointed = a_fact(1, {"course": "Gradus", "lesson": 4, "title": "Fugues and canons"}, call="c1")
    like = a_fact(
        2,
        {"course": "Clavier", "title": "Writing fugues", "text": "Fugues and canons for two voices."},
        call="c2",
    )
    other = a_fact(3, {"course": "Organ", "title": "Old canons", "text": "Canons of all ages."}, call="c2")
    calls = (a_call("F1", course="Gradus"), a_call("F2", "F3", query="Fugues and canons"))
    text = answer(
        "Which course covers the same topic as lesson 4 of the course Gradus?",
        pointed,
        like,
        other,
        tried=calls,
    )
    assert text.startswith("**Clavier**: “Writing fugues” speaks of the same [F2].")
    assert "is “Fugues and canons” [F1]." in text
    assert "Others that share words with it, less well placed: Organ [F3]." in text


def test_a_comparison_with_an_unknown_item_is_reported() -> None:
    text = answer("Which course covers the same topic as lesson 4 of the course Gradus?")
    assert "I could not find out what " in text
