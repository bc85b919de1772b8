"""The title of a record. Pure."""

from antiphon_shared.memory.filing.blocks import TITLE_CHARACTERS_MAX
from antiphon_shared.text.excerpt import one_line

_NUMBER_MAX = 10**30
_KEYS = ("title", "name", "headline", "heading", "subject", "label", "topic", "course", "lesson")
_ENDINGS = ("_title", "_name", " title", " name")
_LESS_TELLING_KEYS = (
    "file", "filename", "path", "url", "key", "id", "speaker", "author", "from", "sender", "date",
)  # fmt: skip  # one list, in order


def title_of(content: object) -> str:
    """Return a record's title, by its most informative key, or an empty text."""
    if not isinstance(content, dict):
        return ""
    candidates = {key.lower(): value for key, value in content.items() if _can_be_title(value)}
    for key in _KEYS:
        if key in candidates:
            return one_line(str(candidates[key]), TITLE_CHARACTERS_MAX)
    for key, value in candidates.items():
        if key.endswith(_ENDINGS):
            return one_line(str(value), TITLE_CHARACTERS_MAX)
    for key in _LESS_TELLING_KEYS:
        if key in candidates:
            return one_line(str(candidates[key]), TITLE_CHARACTERS_MAX)
    return ""


def _can_be_title(value: object) -> bool:
    return bool(value.strip()) if isinstance(value, str) else type(value) is int and abs(value) < _NUMBER_MAX
