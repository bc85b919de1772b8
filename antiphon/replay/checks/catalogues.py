"""Values derived from a tool catalogue, cached for all steps and sessions that share it."""

from functools import lru_cache
from typing import Any

from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.contract import Contract
from pydantic import ValidationError

from antiphon.replay.checks.by_identity import ByIdentity
from reasoning_engine.offer import Offer

_CACHED_MAX = 256


def offer_of(catalogue: Catalogue, names: tuple[str, ...]) -> Offer:
    """Return the tools of those names in the form offered to a model."""
    return _offer(ByIdentity(catalogue), names)


def contracts_of(catalogue: Catalogue) -> dict[str, Contract]:
    """Return the contracts by the names of their tools. Raises UnreadableEvent."""
    return _contracts(ByIdentity(catalogue))


@lru_cache(_CACHED_MAX)
def _offer(key: ByIdentity[Catalogue], names: tuple[str, ...]) -> Offer:
    offered = frozenset(names)
    return Offer.of(tool for tool in key.value.tools if tool.name in offered)


@lru_cache(_CACHED_MAX)
def _contracts(key: ByIdentity[Catalogue]) -> dict[str, Contract]:
    contracts: dict[str, Any] = {}
    for tool in key.value.tools:
        try:
            contracts[tool.name] = tool.contract
        except ValidationError:
            raise UnreadableEvent(f"the contract of the tool {tool.name} cannot be read.") from None
    return contracts
