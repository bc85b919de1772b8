"""Tools of every way to be run in a batch, over nothing."""

import asyncio
from typing import Annotated, Any

from antiphon import Secret, ToolContext, ToolFailed, tool


@tool(effect="read", batch={"tool": "look_up_many", "argument": "items"})
def look_up(word: str) -> dict[str, str]:
    """Looks one word up."""
    return {"word": word, "means": f"The word {word} means nothing in particular."}


@tool(effect="read")
def look_up_many(items: list[dict[str, str]]) -> list[dict[str, Any]]:
    """Looks many words up; of the word `none` it knows nothing."""
    return [
        {"error": {"error_type": "not_found", "message": "No such word."}} if item["word"] == "none" else item
        for item in items
    ]


@tool(effect="read")
def unlock(pin: Annotated[str, Secret]) -> str:
    """Opens what is locked."""
    return "It is open."


@tool(effect="read")
def find_ids(topic: str) -> list[dict[str, Any]]:
    """Finds documents by topic; of the topic `nothing` there are none."""
    if topic == "nothing":
        raise ToolFailed("not_found", "There is nothing about that.", "Ask for something else.")
    return [{"id": 7, "title": f"About {topic}"}, {"id": 8, "title": f"More about {topic}"}]


@tool(effect="read", depends_on=[{"tool": "find_ids", "required_fields": ["id"]}])
def read_document(id: int) -> str:
    """Reads one of the documents found."""
    return f"Document {id} says that all is well."


@tool(effect="write", scopes=["notes"])
def keep_note(text: str, context: ToolContext) -> str:
    """Keeps a note; notes that say `fail` cannot be kept."""
    if "fail" in text:
        raise ToolFailed("api_failure", "The note could not be kept.", "Say something else.")
    return f"Kept: {text}"


@tool(effect="read", timeout_s=60)
async def wait_long(seconds: float) -> str:
    """Waits."""
    await asyncio.sleep(seconds)
    return "waited"
