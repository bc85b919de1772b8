"""The JSON Schema that an answer has to fit: the accepted schemas, and the rules that a value breaks. Pure.

Patterns are matched in time linear in the text, by Rust's `regex` through `jsonschema-rs`; bounds.py limits
the rest.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from pydantic_core import from_json, to_json

from antiphon_shared.output.bounds import UnfitSchema, checked
from antiphon_shared.text.excerpt import cut
from antiphon_shared.values import JsonSchema, members

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

BYTES_MAX = 100_000
FAULTS_MAX = 10
"""The number of broken rules reported for one value."""
_FAULT_CHARACTERS_MAX = 300
_CHECKS_MAX = 50_000
"""The number of errors in a value up to which some of them are reported."""
_PATTERN_BYTES_MAX = 1_000_000
"""The size of a compiled pattern."""
_BRANCHES_MAX = 12
"""The number of branches of `anyOf`, `if` and the like; with more, the check that any value can fit takes too long."""
_SCHEMAS_CACHED_MAX = 64


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that a value breaks."""

    at: str
    """The JSON Pointer of the part that breaks it; empty for the whole."""
    message: str

    def __str__(self) -> str:
        return f"Property: {self.at.lstrip('/') or '(the whole)'}, Message: {self.message}"


_TOO_MANY = Fault("", "It breaks rules, and is too large to name them; give a smaller value")


class OutputSchema:
    """A schema that answers are checked against."""

    def __init__(self, schema: object) -> None:
        """Raise UnfitSchema for a schema that cannot be used."""
        size = len(to_json(schema))
        if size > BYTES_MAX:
            raise UnfitSchema(f"it has {size:,} bytes, more than the limit of {BYTES_MAX:,}; describe less")
        if not isinstance(schema, dict):
            raise UnfitSchema("it is not a JSON object")
        self.extent = checked(schema)
        self._validator = _compiled(schema)

    def faults(self, value: object) -> tuple[Fault, ...]:
        """Return the rules that `value` breaks, at most FAULTS_MAX of them; an empty tuple when it fits."""
        if self._validator.is_valid(value):
            return ()
        # The validator collects all errors before it yields the first: those of every alternative, for every
        # part.
        if _parts(value) * (1 + self.extent.forked) > _CHECKS_MAX:
            return (_TOO_MANY,)
        return tuple(map(_fault, islice(self._validator.iter_errors(value), FAULTS_MAX)))


def output_schema(schema: JsonSchema) -> OutputSchema:
    """Return a schema, compiled once for all equal ones. Raises UnfitSchema."""
    return _of_json(to_json(schema))


@lru_cache(_SCHEMAS_CACHED_MAX)
def _of_json(written: bytes) -> OutputSchema:
    return OutputSchema(from_json(written))


def _compiled(schema: JsonSchema) -> "Draft202012Validator":
    # Imported only for a schema, which most sessions lack.
    from jsonschema_rs import Draft202012Validator, ReferencingError, RegexOptions, ValidationError

    patterns = RegexOptions(size_limit=_PATTERN_BYTES_MAX)
    try:
        validator = Draft202012Validator(
            schema, validate_formats=True, pattern_options=patterns, offline=True
        )
        is_empty = _branches(schema) <= _BRANCHES_MAX and _is_empty(schema)
    except (ValidationError, ReferencingError, ValueError) as error:
        raise UnfitSchema(f"it is not JSON Schema 2020-12: {_excerpt(str(error))}") from None
    if is_empty:
        raise UnfitSchema("no value satisfies it; look for rules that contradict each other")
    return validator


def _is_empty(schema: JsonSchema) -> bool:
    from jsonschema_rs import canonical, canonicalize

    return canonicalize(schema, offline=True).satisfiability() == canonical.Satisfiability.NO


def _branches(value: object) -> int:
    """Return the number of alternatives in a schema, at any depth."""
    own = 0
    if isinstance(value, dict):
        listed = (part for name, part in value.items() if name.endswith("Of") and isinstance(part, list))
        mapped = (value.get(name) for name in ("dependentSchemas", "dependentRequired"))
        own = sum(map(len, listed)) + sum(len(part) for part in mapped if isinstance(part, dict))
        own += 2 * ("if" in value)
    return own + sum(map(_branches, members(value)))


def _parts(value: object) -> int:
    """Return the number of values in a value, itself included."""
    return 1 + sum(map(_parts, members(value)))


def _fault(error: "ValidationError") -> Fault:
    path, message = list(error.instance_path), error.message
    missing = getattr(error.kind, "property", None) if error.kind.name == "required" else None
    if isinstance(missing, str):
        path, message = [*path, missing], f"Required field {missing!r} is missing"
    return Fault(_excerpt(pointer(path)), _excerpt(message))


def pointer(path: Iterable[str | int]) -> str:
    """Return the JSON Pointer of a path."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def _excerpt(text: str) -> str:
    return cut(text.partition("\n")[0], _FAULT_CHARACTERS_MAX)
