"""Another `find_book`."""

from tool_dispatcher.authoring.tool import tool


@tool(effect="read")
def find_book(isbn: str) -> str:
    """Finds a book by its number."""
    return isbn
