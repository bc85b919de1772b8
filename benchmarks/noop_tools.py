"""Tools that do nothing, for measuring the cost around them."""

from tool_dispatcher.authoring.tool import tool

RESULT: dict[str, object] = {"items": [{"title": "A stub", "text": "It says what stubs say. " * 8}]}


@tool(effect="read")
async def search(q: str) -> dict[str, object]:
    """Finds what a stub finds."""
    return RESULT
