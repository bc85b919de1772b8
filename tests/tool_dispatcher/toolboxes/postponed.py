"""Type hints that are text until they are asked for."""

from __future__ import annotations

from tool_dispatcher.authoring.tool import ToolContext, tool


@tool(effect="read")
def later(x: int, context: ToolContext) -> int:
    """Doubles a number."""
    return 2 * x
