"""A tool that does nothing, for measuring the cost around it."""

from tool_dispatcher.authoring.tool import tool


@tool(effect="read")
async def nothing(n: int) -> int:
    """Finds nothing."""
    return n
