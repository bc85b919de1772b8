"""The subjects of documents, and the later one of two facts. Pure."""

from functools import lru_cache

from antiphon_shared.memory.filing.claims import subject_of
from antiphon_shared.memory.filing.reading import read_statement
from antiphon_shared.memory.layers import Document
from antiphon_shared.text.dates import Date, dates_in, is_later

_REMEMBERED = 2_048
_GENERIC_TITLES = frozenset((
    "",    "introduction", "overview", "summary", "conclusion", "details", "notes", "abstract", "contents",
    "background", "about", "description", "result", "results", "untitled", "document", "page", "section",
    "chapter", "general", "information", "home", "faq", "history", "news", "profile", "company profile", "facts",
    "key facts", "about us", "fact sheet", "article", "press release", "report", "annual report",
))  # fmt: skip  # a text, not a column


def is_same_subject(text: str, document: Document, other: Document) -> bool:
    """Return whether the same words are about one subject: below one title, or about a subject that they name."""
    if have_one_title(document, other):
        return True
    subject = subject_of(text)
    return bool(subject) and is_subject_of(subject, document, other)


def have_one_title(document: Document, other: Document) -> bool:
    """Return whether two documents are on one subject by their titles."""
    one = subject_in(document.title)
    return one not in _GENERIC_TITLES and one == subject_in(other.title)


def is_subject_of(name: str, *documents: Document) -> bool:
    """Return whether a name means the same in documents: each has a generic title, or one that contains it.

    `Revenue in Europe` in the reports of two firms is not the same.
    """
    folded = f" {name.lower()} ".replace(" the ", " ")
    titles = [subject_in(document.title) for document in documents]
    return all(title in _GENERIC_TITLES or folded in f" {title} " for title in titles)


@lru_cache(_REMEMBERED)
def subject_in(title: str) -> str:
    """Return a title without its dates, as two reports of one firm are on the same subject."""
    words = read_statement(title, False).folded
    dated = {at for date in dates_in(words) for at in range(date.start, date.end)}
    return " ".join([word for at, word in enumerate(words) if at not in dated])


def is_newer(one: Date | None, document: Document, other: Date | None, its: Document) -> bool | None:
    """Return whether `one` is later; None if that is undecided. Untrusted content never replaces trusted content."""
    later = is_later(one, other) if one and other else None
    newer, older = (document, its) if later else (its, document)
    return None if newer.is_untrusted and not older.is_untrusted else later
