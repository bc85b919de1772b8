"""Cited facts that other facts contradict or supersede."""

from response_assembler.fact_validity import UNCERTAINTIES_MAX, latest, outdated_facts
from tests.response_assembler.builders import a_disagreement, a_document, a_memory


def test_a_superseded_fact_is_reported_with_the_later_one() -> None:
    (uncertainty,) = outdated_facts(a_disagreement(), {"F4": 1})
    assert (uncertainty.kind, uncertainty.severity, uncertainty.about) == (
        "superseded_cited",
        "caution",
        "F4, F5",
    )
    assert uncertainty.message == (
        "The answer cites [1], “The course price is 200 euros”; a later source says “The course price is 240 "
        "euros since May 2024”."
    )


def test_an_answer_that_cites_the_later_fact_too_is_not_reported() -> None:
    assert list(outdated_facts(a_disagreement(), {"F4": 1, "F5": 2})) == []


def test_a_contradicted_fact_is_named_with_its_counterpart_whichever_is_cited() -> None:
    for cited, other in (("F1", "F3"), ("F3", "F1")):
        (uncertainty,) = outdated_facts(a_disagreement(), {cited: 1})
        assert (uncertainty.kind, uncertainty.severity, uncertainty.about) == (
            "contradicted",
            "caution",
            f"{cited}, {other}",
        )
        assert "which it does not cite" in uncertainty.message


def test_a_contradiction_between_two_cited_facts_is_reported_once() -> None:
    (uncertainty,) = outdated_facts(a_disagreement(), {"F1": 1, "F3": 2})
    assert uncertainty.kind == "contradicted"
    assert uncertainty.message.startswith(
        "[1] and [2] contradict each other, and no date decides between them"
    )


def test_the_latest_fact_is_found_over_several_steps_and_cycles_end() -> None:
    chain = a_memory(
        a_document("", "one"),
        a_document("", "two", first=2, supersedes=("F1",)),
        a_document("", "three", first=3, supersedes=("F2",)),
    )
    assert latest(chain, "F1") == "F3"
    ring = a_memory(
        a_document("", "one", supersedes=("F2",)), a_document("", "two", first=2, supersedes=("F1",))
    )
    assert latest(ring, "F1") == "F2"


def test_a_lost_fact_supersedes_nothing() -> None:
    memory = a_memory(a_document("", "one", superseded_by=("F9",), contradicts=("F8",)))
    assert latest(memory, "F1") == "F1"
    assert list(outdated_facts(memory, {"F1": 1})) == []


def test_uncertainties_of_each_kind_are_limited() -> None:
    others = tuple(f"F{n}" for n in range(1, 31))
    memory = a_memory(a_document("", *map(str, range(30))), a_document("", "x", first=31, contradicts=others))
    assert len(list(outdated_facts(memory, {id: n for n, id in enumerate(others, 1)}))) == UNCERTAINTIES_MAX
