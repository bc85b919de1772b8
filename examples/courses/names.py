"""Course titles as people remember them: incomplete or misspelt. Pure."""

import re
from difflib import SequenceMatcher

_WORD = re.compile(r"\w+")
_SMALL_WORDS = frozenset(["a", "an", "and", "course", "for", "from", "in", "of", "on", "the", "to", "with"])
_ACCEPTED = 0.75
_MARGIN = 0.05


def match_title(name: str, titles: tuple[str, ...]) -> str | None:
    """Return the one title that `name` means; None when none is near, or two are equally near."""
    ranked = sorted(((likeness(name, title), title) for title in titles), reverse=True)
    if not ranked or ranked[0][0] < _ACCEPTED:
        return None
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _MARGIN:
        return None
    return ranked[0][1]


def nearest_titles(name: str, titles: tuple[str, ...], count: int = 3) -> tuple[str, ...]:
    """Return the titles most like `name`, the nearest first."""
    return tuple(sorted(titles, key=lambda title: (-likeness(name, title), title))[:count])


def likeness(name: str, title: str) -> float:
    """Return a likeness from 0 to 1: the whole texts', or that of each word and its nearest in the title."""
    asked, given = _words(name), _words(title)
    if not asked or not given:
        return 0.0
    whole = SequenceMatcher(None, " ".join(asked), " ".join(given)).ratio()
    nearest = [max(SequenceMatcher(None, word, other).ratio() for other in given) for word in asked]
    by_word = sum(nearest) / len(nearest)
    return max(whole, by_word * (0.9 + 0.1 * min(1.0, len(asked) / len(given))))


def _words(text: str) -> list[str]:
    found = [word.lower() for word in _WORD.findall(text[:200])]
    return [word for word in found if word not in _SMALL_WORDS] or found
