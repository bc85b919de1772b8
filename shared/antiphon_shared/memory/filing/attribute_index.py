"""The attributes of subjects that sentences and records state, by subject. Pure."""

from collections.abc import Hashable, Iterator
from typing import TypeVar

from antiphon_shared.memory.filing.assertions import Assertion
from antiphon_shared.memory.filing.records import DescribedRecord
from antiphon_shared.memory.filing.subjects import have_one_title, is_newer, is_subject_of, subject_in
from antiphon_shared.memory.filing.values import exclude
from antiphon_shared.memory.layers import Document

COMPARED_MAX = 8
"""Bound on the newest alike assertions that are compared: more are steps of a list, not claims about one thing."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Difference = tuple[bool | None, str]
"""Whether the new fact is later, None if that is undecided, and the id of the earlier fact."""


def add_to(index: dict[K, list[T]], key: K, one: T) -> None:
    """Add one to those with the same key."""
    alike = index.setdefault(key, [])
    alike.append(one)
    del alike[:-COMPARED_MAX]


class AttributeIndex:
    """Assertions and records by their subjects. Only `add` and `put_record` change it."""

    def __init__(self) -> None:
        self._asserted: dict[str, dict[str, list[tuple[Assertion, str, Document]]]] = {}
        self._described: dict[str, list[tuple[DescribedRecord, str, Document]]] = {}

    def add(self, assertion: Assertion, fact: str, document: Document) -> None:
        """Add a sentence's assertion."""
        if subject := _subject(assertion, document):
            add_to(self._asserted.setdefault(subject, {}), assertion.attribute, (assertion, fact, document))

    def put_record(self, described: DescribedRecord, fact: str, document: Document) -> None:
        """Add a record."""
        add_to(self._described, described.subject, (described, fact, document))

    def against(self, assertion: Assertion, document: Document) -> Iterator[Difference]:
        """Yield the facts that contradict a sentence."""
        subject = _subject(assertion, document)
        for other, fact, its in self._asserted.get(subject, {}).get(assertion.attribute, ()):
            if its.id == document.id or other.date != assertion.date or other.is_past != assertion.is_past:
                continue
            if _is_same_thing(assertion, document, other, its) and exclude(assertion.value, other.value):
                yield None, fact
        for described, fact, its in self._described.get(subject, ()):
            if _contradicts(described, its, assertion, document):
                yield None, fact

    def against_record(self, described: DescribedRecord, document: Document) -> Iterator[Difference]:
        """Yield the facts that differ from a record, each with whether the record is later."""
        others = self._described.get(described.subject, ())
        call = (document.round, document.call_id)
        if any((its.round, its.call_id) == call for _, _, its in others):
            return  # a name that occurs twice in one result identifies neither
        for other, fact, its in others:
            if described.differs_from(other):
                yield is_newer(described.date, document, other.date, its), fact
        for attribute, assertions in self._asserted.get(described.subject, {}).items():
            if attribute in described.fields:
                for assertion, fact, its in assertions:
                    if _contradicts(described, document, assertion, its):
                        yield None, fact


def _subject(assertion: Assertion, document: Document) -> str:
    return assertion.subject or subject_in(document.title)


def _is_same_thing(one: Assertion, document: Document, other: Assertion, its: Document) -> bool:
    """Return whether the subjects, which have the same words, are the same thing."""
    if have_one_title(document, its):
        return True
    have_names = all(each.is_named or not each.subject for each in (one, other))
    return have_names and is_subject_of(_subject(one, document), document, its)


def _contradicts(described: DescribedRecord, document: Document, assertion: Assertion, its: Document) -> bool:
    """Return whether a sentence and a record, both without a time, give an attribute two values."""
    if document.id == its.id or assertion.is_past or assertion.date or described.date:
        return False
    value = described.value(assertion.attribute)
    if value is None or not exclude(value, assertion.value):
        return False
    return have_one_title(document, its) or is_subject_of(described.subject, its)
