"""Citations of facts in a text: `[F3]`, `[F1, F2]`, `[F4-F6]`. Pure."""

import re

_IDS_MAX = 1000
CITATION = re.compile(r"\[\s*(F\d{1,9}(?:\s*(?:,|;|-|–|and|&)\s*F?\d{1,9})*)\s*\]")
_ID_OR_RUN = re.compile(r"F?(\d{1,9})(?:\s*[-–]\s*F?(\d{1,9}))?")


def cited_ids(text: str) -> tuple[str, ...]:
    """Return the cited ids, each once, in the order of the text; of very many the first thousand or so."""
    numbers: dict[int, None] = {}
    for citation in CITATION.finditer(text):
        for part in _ID_OR_RUN.finditer(citation[1]):
            first, last = int(part[1]), int(part[2] or part[1])
            numbers.update(dict.fromkeys(range(first, min(last, first + _IDS_MAX) + 1)))
            numbers[last] = None
            if len(numbers) > _IDS_MAX:
                return tuple(f"F{number}" for number in numbers)
    return tuple(f"F{number}" for number in numbers)
