"""Which earlier facts a new one supersedes, is superseded by, or contradicts.

Superseded only by the same subject and attribute with an explicitly later date; the same subject and attribute
otherwise, and something else said of it, is a contradiction. What anybody may have written supersedes only its like.
Everything is found by one look-up: a claim by its
words without numbers and date, a denial by the words of what it denies, a record by what names it.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from antiphon_shared.memory.filing.claims import Claim, claim_of, denied_by, subject_of
from antiphon_shared.memory.filing.dates import Date, dates_in, is_later
from antiphon_shared.memory.filing.pieces import Statement
from antiphon_shared.memory.filing.reading import read
from antiphon_shared.memory.filing.records import Entry, Kind, disagree, entry_of, is_same_kind, kind_of
from antiphon_shared.memory.layers import Document, Fact

_REMEMBERED = 2_048
_COMPARED_MAX = 8
"""Of many alike, the newest are compared: they are steps of a list, not claims about one thing."""
_GENERIC_TITLES = frozenset((
    "",    "introduction", "overview", "summary", "conclusion", "details", "notes", "abstract", "contents",
    "background", "about", "description", "result", "results", "untitled", "document", "page", "section",
    "chapter", "general", "information", "home", "faq", "history",
))  # fmt: skip  # a text, not a column


class Relations(NamedTuple):
    """How a statement stands to earlier facts."""

    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


Place = tuple[str, Document]
"""A fact's id, and the document it stands in."""
NONE = Relations()


class Differences:
    """The facts by what they claim. Changed by `put` alone."""

    def __init__(self) -> None:
        self._claims: dict[str, list[tuple[Claim, str, Document]]] = {}
        self._records: dict[tuple[str, str], list[tuple[Entry, str, Document, Kind]]] = {}
        self._stated: dict[str, Place] = {}
        self._denied: dict[str, Place] = {}

    def put(self, fact: Fact, document: Document) -> None:
        """Take in what a fact claims."""
        if fact.is_json:
            if entry := entry_of(fact.statement):
                alike = self._records.setdefault(entry.identity, [])
                alike.append((entry, fact.id, document, kind_of(document.tool, fact.position)))
                del alike[:-_COMPARED_MAX]
            return
        if claim := claim_of(fact.statement):
            similar = self._claims.setdefault(claim.template, [])
            similar.append((claim, fact.id, document))
            del similar[:-_COMPARED_MAX]
        self._stated[read(fact.statement, False).key] = (fact.id, document)
        for key in denied_by(fact.statement):
            self._denied[key] = (fact.id, document)

    def relations(self, statement: Statement, document: Document) -> Relations:
        """How a statement that is about to be filed stands to those filed."""
        text = statement.text
        if statement.is_json:
            entry = entry_of(text)
            if entry is None or entry.identity not in self._records:
                return NONE
            return self._of_record(entry, document, kind_of(document.tool, statement.position))
        claim = claim_of(text)
        found = self._of_claim(claim, text, document) if claim and claim.template in self._claims else NONE
        opposite = self._opposite(text, document)
        return found._replace(contradicts=(*found.contradicts, *opposite)) if opposite else found

    def _of_record(self, entry: Entry, document: Document, kind: Kind) -> Relations:
        others = self._records[entry.identity]
        call = (document.round, document.call_id)
        if any((other.round, other.call_id) == call for _, _, other, _ in others):
            return NONE  # a name that one result gives twice names nothing
        return _sorted(
            (_is_later(entry.date, document, other.date, its), fact)
            for other, fact, its, its_kind in others
            if is_same_kind(entry, kind, other, its_kind) and disagree(entry, other)
        )

    def _of_claim(self, claim: Claim, text: str, document: Document) -> Relations:
        found: list[tuple[bool | None, str]] = []
        for other, fact, its in self._claims[claim.template]:
            if not _is_same_subject(text, document, its):
                continue
            if _later_decides(claim, other):
                found.append((_is_later(claim.date, document, other.date, its), fact))
            elif claim.date == other.date and its.id != document.id and _differ_in_one(claim, other):
                found.append((None, fact))
        return _sorted(found)

    def _opposite(self, text: str, document: Document) -> tuple[str, ...]:
        """The facts that state what the text denies, or deny what it states."""
        places = [self._stated[key] for key in denied_by(text) if key in self._stated]
        if denial := self._denied.get(read(text, False).key):
            places.append(denial)
        return tuple(fact for fact, its in places if _is_same_subject(text, document, its))


def _sorted(others: Iterable[tuple[bool | None, str]]) -> Relations:
    """Earlier facts by whether the new one is later; None: nothing decides."""
    supersedes: list[str] = []
    superseded_by: list[str] = []
    contradicts: list[str] = []
    for later, fact in others:
        (contradicts if later is None else supersedes if later else superseded_by).append(fact)
    return Relations(tuple(supersedes), tuple(superseded_by), tuple(contradicts))


def _is_later(one: Date | None, document: Document, other: Date | None, its: Document) -> bool | None:
    """Whether the one is of a later date. What anybody may have written replaces nothing else, whatever its date."""
    later = is_later(one, other) if one and other else None
    newer, older = (document, its) if later else (its, document)
    return None if newer.is_untrusted and not older.is_untrusted else later


def _later_decides(one: Claim, other: Claim) -> bool:
    """Whether two claims are states of one thing at different times."""
    if one.numbers == other.numbers or not (one.is_lasting and one.date and other.date):
        return False
    return is_later(one.date, other.date) is not None


def _differ_in_one(one: Claim, other: Claim) -> bool:
    return sum(mine != its for mine, its in zip(one.numbers, other.numbers, strict=True)) == 1


def _is_same_subject(text: str, document: Document, other: Document) -> bool:
    """Whether words that are the same speak of the same: below one title, or of what they name themselves.

    A name counts where both titles hold it too, or neither document has a title of its own: `Revenue in Europe` in
    the reports of two firms is not the same.
    """
    one, its = _subject(document.title), _subject(other.title)
    if one == its and one not in _GENERIC_TITLES:
        return True
    subject = subject_of(text)
    if not subject:
        return False
    if one in _GENERIC_TITLES and its in _GENERIC_TITLES:
        return True
    return all(f" {subject.lower()} " in f" {title} " for title in (one, its))


@lru_cache(_REMEMBERED)
def _subject(title: str) -> str:
    """A title without the dates in it: two reports of one firm are on the same subject."""
    words = read(title, False).folded
    dated = {at for date in dates_in(words) for at in range(date.start, date.end)}
    return " ".join([word for at, word in enumerate(words) if at not in dated])
