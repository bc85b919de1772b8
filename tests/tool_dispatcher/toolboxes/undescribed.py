"""A tool that cannot be made."""

from tool_dispatcher.authoring.tool import tool


@tool(effect="read")
def mystery(x: int) -> int:
    return x
