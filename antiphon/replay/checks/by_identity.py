"""Large values as the keys of a cache. Pure."""

from typing import Generic, TypeVar

ValueT = TypeVar("ValueT")


class ByIdentity(Generic[ValueT]):
    """A key that compares a value by identity, as comparing its content would cost as much as the cache saves."""

    def __init__(self, value: ValueT) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
