"""A search leads to documents, a fetched one to others, and a long one is shown in part."""

from typing import Any

import pytest
from pydantic_core import to_json

from examples.documents import fetch_document, list_documents, rerank, search_documents
from tool_dispatcher.authoring.tool import ToolFailed
from tool_dispatcher.results.as_json import as_json
from tool_dispatcher.results.oversize import fit_data


def test_a_search_finds_the_document_and_quotes_the_matching_text() -> None:
    best = search_documents("How long does the compressor need from a cold start?")[0]
    assert best.id == "fog-signal"
    assert "twelve minutes" in best.excerpt


def test_a_search_returns_at_most_the_requested_number_and_nothing_without_hits() -> None:
    assert len(search_documents("the lamp", limit=2)) == 2
    assert search_documents("xylophone") == []


def test_every_document_that_is_listed_or_referred_to_can_be_fetched() -> None:
    for listed in list_documents():
        fetched = fetch_document(listed.id)
        assert (fetched.id, fetched.title) == (listed.id, listed.title)
        for reference in fetched.see_also.split(", "):
            assert fetch_document(reference).id == reference


def test_a_reranking_puts_the_best_paragraph_first() -> None:
    found = rerank("what to do when the lamp fails", ["power", "night-watch", "lamp-care"])
    assert found[0].id == "lamp-care"
    assert "within four seconds" in found[0].excerpt
    assert sorted(document.id for document in found) == ["lamp-care", "night-watch", "power"]


def test_a_document_named_twice_is_ranked_once() -> None:
    assert len(rerank("lamp", ["power", "power"])) == 1


@pytest.mark.parametrize("id", ["lampcare", "Lamp-Care"])
def test_an_unknown_id_is_not_found_and_the_nearest_is_suggested(id: str) -> None:
    for call in (lambda: fetch_document(id), lambda: rerank("lamp", ["power", id])):
        with pytest.raises(ToolFailed, match=id) as failed:
            call()
        assert failed.value.error_type == "not_found"
        assert '"lamp-care"' in (failed.value.suggested_action or "")


def test_an_id_like_no_other_sends_the_model_to_the_search() -> None:
    with pytest.raises(ToolFailed) as failed:
        fetch_document("0000")
    assert "search_documents" in (failed.value.suggested_action or "")


def test_one_document_is_too_long_to_be_shown_whole_and_the_others_are_not() -> None:
    bytes_max = fetch_document.contract.result_bytes_max
    assert bytes_max is not None
    fetched: dict[str, Any] = {listed.id: as_json(fetch_document(listed.id)) for listed in list_documents()}
    cut = {
        id: shown
        for id, data in fetched.items()
        if (shown := fit_data(data, bytes_max, "h1")).whole is not None
    }
    assert list(cut) == ["storm-log"]
    kept: Any = cut["storm-log"].data
    assert len(to_json(kept)) <= bytes_max
    assert kept["paragraphs"] == fetched["storm-log"]["paragraphs"][: len(kept["paragraphs"])] != []
    assert 'read_result(handle="h1"' in kept["note"]


def test_a_search_result_has_the_field_that_a_fetch_depends_on() -> None:
    (dependency,) = fetch_document.contract.depends_on
    found: Any = as_json(search_documents("lamp"))
    assert all(field in found[0] for field in dependency.required_fields)
