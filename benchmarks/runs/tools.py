"""A tool that does nothing, for measuring what stands around it."""

from tool_dispatcher.authoring.tool import tool


@tool(effect="read")
async def nothing(n: int) -> int:
    """Finds nothing."""
    return n
