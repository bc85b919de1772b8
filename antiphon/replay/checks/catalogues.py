"""Values derived from a tool catalogue, once for all steps and sessions that share it."""

from functools import lru_cache
from typing import Any

from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.contract import Contract
from pydantic import ValidationError

from reasoning_engine.offer import Offer

_KEPT_MAX = 256


def offer_of(catalogue: Catalogue, names: tuple[str, ...]) -> Offer:
    """Return the tools of those names in the form offered to a model."""
    return _offer(_ByIdentity(catalogue), names)


def contracts_of(catalogue: Catalogue) -> dict[str, Contract]:
    """Return the contracts by the names of their tools. Raises UnreadableEvent."""
    return _contracts(_ByIdentity(catalogue))


class _ByIdentity:
    """A catalogue as a key by identity: a comparison of two would cost as much as the cache saves."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.catalogue is other.catalogue

    def __hash__(self) -> int:
        return id(self.catalogue)


@lru_cache(_KEPT_MAX)
def _offer(key: _ByIdentity, names: tuple[str, ...]) -> Offer:
    wanted = frozenset(names)
    return Offer.of(tool for tool in key.catalogue.tools if tool.name in wanted)


@lru_cache(_KEPT_MAX)
def _contracts(key: _ByIdentity) -> dict[str, Contract]:
    contracts: dict[str, Any] = {}
    for tool in key.catalogue.tools:
        try:
            contracts[tool.name] = tool.contract
        except ValidationError:
            raise UnreadableEvent(f"the contract of the tool {tool.name} cannot be read.") from None
    return contracts
