"""The pages that are opened in the drawn sessions, by name; see drawn_texts.py."""

from typing import Any

from tests.recordings.drawn_texts import pages

_SESSIONS = 7
_OF_A_SESSION = 20
DRAWN_PAGES: dict[str, Any] = {
    name: page for n in range(1, _SESSIONS + 1) for name, page in pages(f"drawn_{n}", _OF_A_SESSION).items()
}


def names_of(session: str) -> list[str]:
    """Return the pages that one session opens, in order."""
    return [name for name in DRAWN_PAGES if name.startswith(f"{session},")]
