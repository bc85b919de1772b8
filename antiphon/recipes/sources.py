"""The sources of a recipe's arguments. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from antiphon_shared.values import JsonSchema
from antiphon_shared.workflows.references import Reference, read_template

from antiphon.recipes.values import ValuePath


@dataclass(frozen=True, slots=True)
class FromResult:
    """A value in the result of an earlier call."""

    call: int
    path: ValuePath


@dataclass(frozen=True, slots=True)
class FromParam:
    """A value given as a param; two with the same key are one param."""

    key: str
    name: str
    """The name of the first argument with it."""
    values: tuple[Any, ...]
    """One for each session."""
    schema: JsonSchema
    """The schema of that argument, from its tool."""
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is always the same."""

    value: Any


Source = FromResult | FromParam | Literal
Bound = Source | dict[str, Any] | list[Any]
"""An argument: a source, or an object or list of them."""


def sources(bound: object) -> Iterator[Source]:
    """Yield the sources in an argument."""
    match bound:
        case FromResult() | FromParam() | Literal():
            yield bound
        case dict() | list():
            for one in bound.values() if isinstance(bound, dict) else bound:
                yield from sources(one)


def reference_to(source: FromResult, name: str) -> Reference | None:
    """Return the reference to a value in a result; None if it cannot be written, as with a dot in a key."""
    path = tuple(
        int(part) if isinstance(part, str) and part.isdecimal() and str(int(part)) == part else part
        for part in source.path
    )
    reference = Reference(name, path)
    try:
        return reference if read_template(str(reference)).single_reference == reference else None
    except ValueError:
        return None
