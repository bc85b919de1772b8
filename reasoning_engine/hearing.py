"""What every model does as a reply comes in, whatever its wire format: tell of it, and pass the points of faults."""

from collections.abc import Callable

from antiphon_shared import faults


async def reply_begins() -> None:
    """Pass the point at which a reply has begun."""
    await faults.at("model.begun")


async def text_came(text: str, on_text: Callable[[str], None]) -> None:
    """Tell of a piece of text, and pass the point behind it."""
    on_text(text)
    await faults.at("model.text")
