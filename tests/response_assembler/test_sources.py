"""Citations become sources; what they name in vain becomes an uncertainty."""

import pytest

from response_assembler.sources import UNCITED_MAX, cited_ids, resolve
from shared.memory import Fact


def facts(count: int) -> list[Fact]:
    return [
        Fact(id=f"F{n}", round=1, tool="t", call_id="c", position="$", title="", content=f"text {n}\nmore")
        for n in range(1, count + 1)
    ]


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ("It is so [F3].", ("F3",)),
        ("Both [F1, F2], and [F2][F10].", ("F1", "F2", "F10")),
        ("[ F1;F2 ] [F4-F6] [F8–9] [F1 and F12]", ("F1", "F2", "F4", "F5", "F6", "F8", "F9", "F12")),
        ("F1, (F2), [f3], [F], [FF4], [F5x], [1]", ()),
        ("", ()),
    ],
)
def test_citations_are_read_as_models_write_them(answer: str, ids: tuple[str, ...]) -> None:
    assert cited_ids(answer) == ids


def test_a_run_of_citations_is_bounded() -> None:
    assert len(cited_ids("[F1-F999999999]" * 50)) < 5000


def test_cited_facts_become_sources_in_the_order_of_the_answer() -> None:
    sources, doubts = resolve("First [F3], then [F1].", facts(4))
    assert [source.id for source in sources] == ["F3", "F1"]
    assert (sources[0].title, sources[0].excerpt) == ("text 3 more", "text 3\nmore")
    assert doubts == ()


def test_an_answer_that_cites_nothing_lists_what_the_model_had_and_says_so() -> None:
    sources, doubts = resolve("Trust me.", facts(50))
    assert [source.id for source in sources] == [f"F{n}" for n in range(51 - UNCITED_MAX, 51)]
    assert [doubt.kind for doubt in doubts] == ["uncited"]


def test_a_citation_of_nothing_is_named() -> None:
    sources, doubts = resolve("Known [F1], invented [F7].", facts(2))
    assert [source.id for source in sources] == ["F1"]
    assert [(doubt.kind, doubt.about) for doubt in doubts] == [("unknown_citation", "F7")]


def test_without_facts_an_answer_owes_no_citation() -> None:
    assert resolve("Four.", []) == ((), ())
