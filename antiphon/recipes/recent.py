"""Recipes from the newest sessions: sessions with the same calls become one recipe."""

from collections.abc import Container, Iterable
from dataclasses import dataclass

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.ids import CHILD

from antiphon.observe import recent_sessions
from antiphon.recipes.chain import Chain, NotLearnable, chain_of
from antiphon.recipes.learn import Learned, learn
from antiphon.recording.session_lines import session_lines


@dataclass(frozen=True, slots=True)
class Recent:
    """The recipes learned from some sessions."""

    learned: tuple[Learned, ...]
    """In the order of their newest sessions, the newest first."""
    refused: tuple[tuple[str, str], ...]
    """Session and reason of each that nothing was learned from."""


async def learn_recent(bus: Bus, count: int, excluded: Container[str]) -> Recent:
    """Return the recipes of the complete sessions among the `count` newest, without `excluded` ones and runs."""
    chains: list[Chain] = []
    refused: list[tuple[str, str]] = []
    for one in await recent_sessions(bus, count):
        if one.status != "complete" or CHILD in one.session_id or one.session_id in excluded:
            continue
        try:
            chains.append(await chain_of_session(bus, one.session_id))
        except AntiphonError as error:
            refused.append((one.session_id, error.message))
    return learned_of(chains, refused)


async def chain_of_session(bus: Bus, session_id: str) -> Chain:
    """Return the chain of a stored session. Raises UnknownSession, and as `chain_of`."""
    return chain_of([line async for line in session_lines(session_id, bus)])


def learned_of(chains: Iterable[Chain], refused: Iterable[tuple[str, str]] = ()) -> Recent:
    """Return one recipe for all chains with the same calls and the same argument names. Pure."""
    groups: dict[object, list[Chain]] = {}
    for chain in chains:
        groups.setdefault(tuple((one.tool, *sorted(one.arguments)) for one in chain.calls), []).append(chain)
    learned: list[Learned] = []
    all_refused = [*refused]
    for group in groups.values():
        try:
            learned.append(learn(group))
        except NotLearnable as error:
            all_refused += [(chain.session_id, error.message) for chain in group]
    return Recent(tuple(learned), tuple(all_refused))
