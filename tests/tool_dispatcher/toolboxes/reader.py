"""A tool that needs one of another module."""

from tool_dispatcher.authoring.tool import tool


@tool(effect="read", depends_on="find_book")
def read_book(book: str) -> str:
    """Reads a book that was found."""
    return book
