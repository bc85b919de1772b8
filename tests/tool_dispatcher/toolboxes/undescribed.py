"""A tool that cannot be made."""

from tool_dispatcher.tool import tool


@tool(effect="read")
def mystery(x: int) -> int:
    return x
