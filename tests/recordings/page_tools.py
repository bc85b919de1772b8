"""Tools whose results have every shape that memory takes apart. Their results are in pages.py."""

from typing import Any, cast

from antiphon_shared.tools.calls import ErrorType

from antiphon import ToolFailed, tool
from tests.recordings.drawn_pages import DRAWN_PAGES
from tests.recordings.filed_pages import FILED_PAGES
from tests.recordings.form_pages import FORM_PAGES
from tests.recordings.length_pages import LENGTH_PAGES, text_of
from tests.recordings.name_pages import NAME_PAGES
from tests.recordings.pages import PAGES
from tests.recordings.placeholder_pages import PLACEHOLDER_PAGES
from tests.recordings.table_pages import TABLE_PAGES

_PAGES = {
    **PAGES,
    **TABLE_PAGES,
    **LENGTH_PAGES,
    **DRAWN_PAGES,
    **PLACEHOLDER_PAGES,
    **NAME_PAGES,
    **FORM_PAGES,
    **FILED_PAGES,
}


@tool(effect="read")
def open_page(name: str) -> Any:
    """Opens a page."""
    return _PAGES[name]


@tool(effect="read", open_world=True)
def open_letter(name: str) -> Any:
    """Opens a letter that anybody may have written."""
    return _PAGES[name]


@tool(effect="read")
def find(query: str) -> list[str]:
    """Searches, and finds nothing."""
    return []


@tool(effect="read", retry=1)
def fail_at_length(length: int) -> str:
    """Fails with so many words."""
    raise ToolFailed("api_failure", text_of(length), text_of(length, "Do "))


@tool(effect="read", retry=1)
def trouble(kind: str) -> str:
    """Fails as it is asked to."""
    raise ToolFailed(cast(ErrorType, kind), f"It is out of order: {kind}.", "Do without.")
