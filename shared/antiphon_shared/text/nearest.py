"""Suggestions for a name that does not exist. Pure."""

from collections.abc import Iterable
from difflib import get_close_matches

from antiphon_shared.text.excerpt import list_names

_LISTED_MAX = 40


def did_you_mean(name: str, existing: Iterable[str], without: str = "") -> str:
    """Return `Did you mean max_rounds? There are: ...`, with the nearest known name, and all of them.

    If nothing exists, return `without`, which says what to do then.
    """
    names = list(existing)
    if not names:
        return without
    nearest = get_close_matches(name, names, n=1, cutoff=0.6)
    meant = f"Did you mean {nearest[0]}? " if nearest else ""
    return f"{meant}There are: {list_names(names, _LISTED_MAX)}."
