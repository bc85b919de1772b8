"""Functions that both wire formats call while a reply arrives: they notify observers and pass fault points."""

from collections.abc import Callable

from antiphon_shared import faults


async def at_reply_begin() -> None:
    """Pass the fault point at which a reply has begun."""
    await faults.pass_point("model.begun")


async def notify_text(text: str, on_text: Callable[[str], None]) -> None:
    """Notify the observer of a piece of text, then pass the fault point after it."""
    on_text(text)
    await faults.pass_point("model.text")
