"""The beginning of a text, or of a list of names, that is too long to show. Pure."""

from collections.abc import Iterable

_WORD_CHARACTERS_MAX = 30


def one_line(text: str, characters: int) -> str:
    """Return the text on one line, or its beginning and an ellipsis when that is longer than `characters`."""
    line = " ".join(text[: 4 * characters].split())
    return shorten(line, characters) if len(line) > characters or len(text) > 4 * characters else line


def cut(text: str, characters: int) -> str:
    """Return the text, or its first part and three dots when it is longer than `characters`."""
    return text if len(text) <= characters else f"{text[:characters]}..."


def shorten(text: str, characters: int) -> str:
    """Return the first part of a text that is longer than `characters`, up to the end of a word, and an ellipsis."""
    cut = text[:characters]
    space = cut.rfind(" ", max(0, len(cut) - _WORD_CHARACTERS_MAX))
    return (cut[:space] if space > 0 else cut).rstrip() + " …"


def list_names(names: Iterable[object], names_max: int) -> str:
    """Return names in a line, with the number of those beyond the limit: `a, b and 3 more`."""
    all = list(map(str, names))
    more = f" and {len(all) - names_max} more" if len(all) > names_max else ""
    return ", ".join(all[:names_max]) + more
