"""The wait until a coordinator has read what a person sent to a session or a run."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Self, TypeVar

from antiphon_shared.process.errors import AntiphonError
from redis.exceptions import RedisError

READ_S = 5.0
"""The time that a coordinator has to read it."""
_POLL_S, _POLL_S_MAX = 0.02, 0.3
FoundT = TypeVar("FoundT")


class CallIds(tuple[str, ...]):
    """The ids of the calls that a decision or an answer was sent for, and whether a coordinator has confirmed it."""

    is_confirmed: bool
    """False if no coordinator has read it within 5 s: it may still count, or come too late."""

    def __new__(cls, ids: Iterable[str], *, is_confirmed: bool) -> Self:
        calls = super().__new__(cls, ids)
        calls.is_confirmed = is_confirmed
        return calls


class GivenValues(str):
    """The path of the node that values were given to, and what a coordinator did with them."""

    is_confirmed: bool
    """False if no coordinator has read them within 5 s: they may still be accepted, refused, or come too late."""
    refused: str
    """Why the values were refused; empty if they were not."""

    def __new__(cls, node: str, *, is_confirmed: bool, refused: str) -> Self:
        given = super().__new__(cls, node)
        given.is_confirmed, given.refused = is_confirmed, refused
        return given


def unconfirmed() -> str:
    """Return the sentences for a person whose decision or answer is not confirmed."""
    return (
        f"Its effect is not known: no coordinator has read it within {READ_S:g} s, or the result cannot be read. It "
        "counts if it is read in time and first. `antiphon status` shows whether a coordinator is alive."
    )


async def found_within_limit(look: Callable[[], Awaitable[FoundT | None]]) -> FoundT | None:
    """Return what `look` finds within 5 s.

    None if it has found nothing by then, or cannot read the session: what was sent may still have an effect.
    """
    delay_s = _POLL_S
    try:
        async with asyncio.timeout(READ_S):
            while (found := await look()) is None:
                await asyncio.sleep(delay_s)
                delay_s = min(2 * delay_s, _POLL_S_MAX)
    except (TimeoutError, RedisError, AntiphonError):
        return None
    return found
