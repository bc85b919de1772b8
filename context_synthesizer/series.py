"""Series of documents, whose titles differ only in a date, such as dated reports. Pure, and mutable.

    Acme: report of 3 May 2021
    Acme: report of 9 June 2024

The documents are about the same subject at different times, often without the words of the question. A question about
the present asks for the newest document of a series; a question that names a year, for the documents of that year.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from antiphon_shared.memory.filing.reading import read_statement
from antiphon_shared.memory.filing.subjects import subject_in
from antiphon_shared.text.dates import Date, dates_in

_PRESENT = re.compile(
    r"\b(?:now|today|current|currently|present|nowadays|these days|latest|newest|most recent)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


class Series:
    """The series of one memory."""

    def __init__(self) -> None:
        self._dated: defaultdict[str, list[tuple[Date, str]]] = defaultdict(list)
        """The dated documents, by their title without the date."""

    def add(self, document: str, title: str) -> None:
        """Add a document by its id, if its title has a date."""
        if dates := list(dates_in(read_statement(title, False).folded)):
            self._dated[subject_in(title)].append((dates[-1].date, document))

    def requested_by(self, questions: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the documents of each series that the questions ask for, and all documents of that series."""
        is_present = any(map(_PRESENT.search, questions))
        years = {int(year) for question in questions for year in _YEAR.findall(question)}
        if not (is_present or years):
            return
        for dated in self._dated.values():
            newest = max(date for date, _ in dated)
            chosen = [id for date, id in dated if (date == newest if is_present else date[0] in years)]
            if chosen and len(dated) > len(chosen):
                yield chosen, [id for _, id in dated]
