"""A search ranks whole documents, a reranking their best paragraphs."""

from hypothesis import given
from hypothesis import strategies as st

from examples.documents.handbook import Document, all_documents
from examples.documents.scoring import best_paragraph, ranked, words_of


def a_document(id: str, *paragraphs: str) -> Document:
    return Document(id, "Untitled", (), paragraphs)


def found(query: str, *documents: Document) -> list[str]:
    return [document.id for _, document in ranked(query, {document.id: document for document in documents})]


def test_plurals_and_small_words_make_no_difference() -> None:
    assert words_of("The Lamps of the rock") == ["lamp", "rock"]
    assert words_of("to be") == ["to", "be"]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    common = a_document("common", "fog sea")
    rare = a_document("rare", "fog lamp")
    other = a_document("other", "sea sea sea sea")
    assert found("sea lamp", common, rare, other)[0] == "rare"


def test_documents_without_a_word_of_the_query_are_not_found() -> None:
    assert found("lamp", a_document("one", "sea"), a_document("two", "the lamp")) == ["two"]
    assert found("lamp") == []


def test_the_best_paragraph_holds_the_words_close_together() -> None:
    far = "The lamp is on the tower, where it is cold, and the keeper knows that it fails."
    near = "If the lamp fails, wake the keeper."
    assert best_paragraph("lamp fails", a_document("one", far, near, "Nothing.")) == (1.0, near)
    score, _ = best_paragraph("lamp fails", a_document("two", far))
    assert 0.6 < score < 1


@given(query=st.text(max_size=80))
def test_any_text_is_a_query_and_every_score_is_in_bounds(query: str) -> None:
    scores = [score for score, _ in ranked(query, all_documents())]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    for document in all_documents().values():
        score, paragraph = best_paragraph(query, document)
        assert 0 <= score <= 1
        assert paragraph in document.paragraphs
