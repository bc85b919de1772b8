"""Relations of a new fact to earlier ones: it supersedes, is superseded by, or contradicts them. Pure.

A fact is superseded only by one on the same subject and attribute with an explicitly later date; otherwise another
value for the same subject and attribute is a contradiction. Untrusted content supersedes only untrusted content. The
rules are narrow on purpose: a pair wrongly called a contradiction misleads more than one that is missed.

    the same words but for one amount            `claims`, by the words without amounts and date
    the same words, denied                       `claims`, by the words of the denied sentence
    one attribute of one subject, two values     `assertions`, by the subject, in sentences and records
    one id, two values                           `records`, by the record's identity

Each is found by one look-up, so that the cost of a fact does not grow with the number of facts.
"""

from collections.abc import Iterator
from typing import NamedTuple

from antiphon_shared.memory.filing.attribute_index import AttributeIndex, Difference, add_to
from antiphon_shared.memory.filing.claims import Claim, ComparedSentence, compared_sentences
from antiphon_shared.memory.filing.pieces import Statement
from antiphon_shared.memory.filing.records import (
    DescribedRecord,
    Entry,
    Kind,
    comparable_forms,
    disagree,
    is_same_kind,
    kind_of,
)
from antiphon_shared.memory.filing.subjects import is_newer, is_same_subject
from antiphon_shared.memory.layers import Document, Fact
from antiphon_shared.text.dates import is_later


class Relations(NamedTuple):
    """The relations of a statement to earlier facts."""

    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


Source = tuple[str, Document]
"""A fact's id, and its document."""
NONE = Relations()


class Differences:
    """The facts by their claims. Only `add` changes it."""

    def __init__(self) -> None:
        self._claims: dict[str, list[tuple[Claim, str, Document]]] = {}
        self._records: dict[tuple[str, str], list[tuple[Entry, str, Document, Kind]]] = {}
        self._attributes = AttributeIndex()
        self._stated: dict[str, Source] = {}
        self._denied: dict[str, Source] = {}

    def add(self, fact: Fact, document: Document) -> None:
        """Add the claims of a fact."""
        if fact.is_json:
            entry, described, prose = comparable_forms(fact.statement)
            if entry:
                kind = kind_of(document.tool, fact.position)
                add_to(self._records, entry.identity, (entry, fact.id, document, kind))
            if described:
                self._attributes.put_record(described, fact.id, document)
            for text in prose:
                self._put_text(text, fact.id, document)
        else:
            self._put_text(fact.statement, fact.id, document)

    def _put_text(self, text: str, fact: str, document: Document) -> None:
        for sentence in compared_sentences(text):
            if sentence.claim:
                add_to(self._claims, sentence.claim.template, (sentence.claim, fact, document))
            if sentence.assertion:
                self._attributes.add(sentence.assertion, fact, document)
            self._stated[sentence.key] = (fact, document)
            for key in sentence.denied:
                self._denied[key] = (fact, document)

    def relations(self, statement: Statement, document: Document) -> Relations:
        """Return the relations of a new statement to the filed facts."""
        if not statement.is_json:
            return _sorted(self._of_text(statement.text, document))
        entry, described, prose = comparable_forms(statement.text)
        differences = [*self._of_record(entry, described, statement, document)]
        for text in prose:
            differences += self._of_text(text, document)
        return _sorted(differences)

    def _of_text(self, text: str, document: Document) -> list[Difference]:
        differences: list[Difference] = []
        for sentence in compared_sentences(text):
            if sentence.claim and sentence.claim.template in self._claims:
                differences += self._of_claim(sentence.claim, sentence.text, document)
            if sentence.assertion:
                differences += self._attributes.against(sentence.assertion, document)
            if sentence.denied or sentence.key in self._denied:
                differences += self._opposite(sentence, document)
        return differences

    def _of_record(
        self, entry: Entry | None, described: DescribedRecord | None, statement: Statement, document: Document
    ) -> Iterator[Difference]:
        call = (document.round, document.call_id)
        others = self._records.get(entry.identity, ()) if entry else ()
        if any((other.round, other.call_id) == call for _, _, other, _ in others):
            return  # a name that occurs twice in one result identifies neither
        kind = kind_of(document.tool, statement.position)
        for other, fact, its, its_kind in others:
            if entry and is_same_kind(entry, kind, other, its_kind) and disagree(entry, other):
                yield is_newer(entry.date, document, other.date, its), fact
        if described:
            yield from self._attributes.against_record(described, document)

    def _of_claim(self, claim: Claim, text: str, document: Document) -> Iterator[Difference]:
        for other, fact, its in self._claims[claim.template]:
            if not is_same_subject(text, document, its):
                continue
            if _later_decides(claim, other):
                yield is_newer(claim.date, document, other.date, its), fact
            elif claim.date == other.date and its.id != document.id and _differ_in_one(claim, other):
                yield None, fact

    def _opposite(self, sentence: ComparedSentence, document: Document) -> Iterator[Difference]:
        """Yield the facts that state what a sentence denies, or deny what it states."""
        sources = [self._stated[key] for key in sentence.denied if key in self._stated]
        if denial := self._denied.get(sentence.key):
            sources.append(denial)
        for fact, its in sources:
            if is_same_subject(sentence.text, document, its):
                yield None, fact


def _sorted(others: list[Difference]) -> Relations:
    """Return earlier facts, each once, by whether the new one is later; None if that is undecided."""
    if not others:
        return NONE
    by_fact = {fact: later for later, fact in reversed(others)}
    return Relations(
        supersedes=tuple([fact for fact in reversed(by_fact) if by_fact[fact]]),
        superseded_by=tuple([fact for fact in reversed(by_fact) if by_fact[fact] is False]),
        contradicts=tuple([fact for fact in reversed(by_fact) if by_fact[fact] is None]),
    )


def _later_decides(one: Claim, other: Claim) -> bool:
    """Return whether two claims are states of one thing at different times."""
    if not (one.is_lasting and one.date and other.date) or not _differ(one, other):
        return False
    return is_later(one.date, other.date) is not None


def _differ(one: Claim, other: Claim) -> int:
    """Return the number of amounts in which two claims exclude each other."""
    return sum(mine.excludes(its) for mine, its in zip(one.amounts, other.amounts, strict=True))


def _differ_in_one(one: Claim, other: Claim) -> bool:
    """Return whether two claims differ in one amount, and all others are the same."""
    same = sum(mine.is_same(its) for mine, its in zip(one.amounts, other.amounts, strict=True))
    return _differ(one, other) == 1 and same == len(one.amounts) - 1
