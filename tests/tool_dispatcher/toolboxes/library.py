"""One tool of its own, and two in a set; one of the set is at the top level too."""

from tool_dispatcher.authoring.tool import Tool, ToolContext, tool
from tool_dispatcher.authoring.toolset import Toolset


@tool(effect="read")
async def find_book(title: str) -> str:
    """Finds a book by its title."""
    return title


def _borrow(arguments: dict[str, str], context: ToolContext) -> str:
    return context.idempotency_key


toolset = Toolset(Tool("borrow", "Borrows a book.", {"properties": {"title": {}}}, _borrow, effect="write"))


@toolset.tool(effect="write")
def give_back(title: str) -> str:
    """Give a book back."""
    return title


not_a_tool = 42
