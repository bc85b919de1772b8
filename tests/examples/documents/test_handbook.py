"""The handbook is read as it was written, and every reference leads somewhere."""

import pytest

from examples.documents.handbook import all_documents, ids_like, parse_handbook

TWO = """# Book

## one: The first
See also: two

It begins
here.

It ends here.

## two: The second
See also: one, two

Words.
"""


def test_a_document_is_its_title_references_and_paragraphs() -> None:
    first, second = parse_handbook(TWO)
    assert (first.id, first.title, first.see_also) == ("one", "The first", ("two",))
    assert first.paragraphs == ("It begins here.", "It ends here.")
    assert second.see_also == ("one", "two")


def test_a_reference_to_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="one refers to three, which is not there"):
        parse_handbook(TWO.replace("See also: two", "See also: three"))


def test_the_handbook_has_documents_that_refer_to_each_other() -> None:
    documents = all_documents()
    assert 12 <= len(documents) <= 20
    assert all(document.paragraphs and document.see_also for document in documents.values())
    assert not any(document.id in document.see_also for document in documents.values())


def test_an_id_with_a_slip_of_the_pen_has_nearest_ones() -> None:
    assert ids_like("lampcare")[0] == "lamp-care"
    assert ids_like("????") == []
