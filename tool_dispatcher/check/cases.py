"""The arguments of an adversarial check: fixed values at every location of the schema, and generated ones. Pure."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from antiphon_shared.values import JsonSchema, ToolArguments

from tool_dispatcher.check import hostile
from tool_dispatcher.check.hostile import Sample
from tool_dispatcher.check.locations import Location, locations_in, put_value, value_at

EXAMPLE = "example"
_TEXT_LENGTH_MAX = 200_000
_ITEMS_MAX = 2_000
_LISTED_MAX = 20


@dataclass(frozen=True)
class Case:
    """A set of arguments, and the weakness it probes."""

    kind: str
    label: str
    arguments: ToolArguments


def cases(
    schema: JsonSchema, example: ToolArguments | None, generated: Sequence[ToolArguments] = ()
) -> list[Case]:
    """Return every case for a tool with that schema; the same input gives the same cases in the same order.

    Args:
        example: valid arguments, whose parts are replaced by fixed values.
        generated: arguments that the schema allows; each is sent unchanged, and with one change.
    """
    locations = locations_in(schema)
    base = example if example is not None else next(iter(generated), {})
    result = [Case("empty", "no arguments", {})]
    if example is not None:
        result.append(Case(EXAMPLE, "the tool's own example", example))
    samples = list(_missing_and_extra(base, locations))
    for location in locations[1:]:
        item = _item(base, location, locations)
        samples += [(location, sample) for sample in _samples(location, item)]
    result += [
        Case(kind, f"{location.name}: {label}", put_value(base, location, value, locations))
        for location, (kind, label, value) in samples
    ]
    result += [Case("drawn", f"drawn {n}", arguments) for n, arguments in enumerate(generated, start=1)]
    result += [_changed(arguments, n, locations) for n, arguments in enumerate(generated, start=1)]
    return result


def _missing_and_extra(base: ToolArguments, locations: list[Location]) -> Iterator[tuple[Location, Sample]]:
    """Yield each object of the arguments without one of its fields, and with an unexpected field."""
    for location in locations:
        node = base if not location.path else value_at(base, location.path)
        if not isinstance(node, dict):
            continue
        for name in node:
            rest = {key: value for key, value in node.items() if key != name}
            yield location, Sample("missing", f"without {name}", rest)
        for name, label, value in _unexpected_fields(node):
            if name not in node:
                yield location, Sample("extra", label, {**node, name: value})


def _unexpected_fields(node: ToolArguments) -> Iterator[tuple[str, str, object]]:
    yield "unexpected_field", "an unknown field", 1
    yield "x" * 10_000, "a field with a name of 10000 characters", 1
    yield "__proto__", "a field named __proto__", {"isAdmin": True}
    yield "", "a field without a name", 1
    yield "unexpected_field", "an unknown field, nested deeply", hostile.nested_list(hostile.DEEP)
    yield "a\ud800", "a field with a lone surrogate in its name", 1
    for name in list(node)[:1]:
        yield f"{name}_", f"a name almost like {name}", node[name]
        yield name.upper(), f"{name} in capitals", node[name]


def _item(base: ToolArguments, location: Location, locations: list[Location]) -> object:
    """Return an item for a list at a location."""
    current = value_at(base, (*location.path, 0))
    return current or next((one.example for one in locations if one.path == (*location.path, 0)), None)


def _samples(location: Location, item: object) -> Iterator[Sample]:
    yield from hostile.samples_of_any_kind()
    if location.accepts("string") and not location.is_listed:
        yield from hostile.texts()
    if location.accepts("integer", "number") and not location.is_listed:
        yield from hostile.numbers()
    if location.accepts("array", "object"):
        yield from hostile.nestings()
    for branch in location.branches:
        for label, value in _boundaries(branch, item):
            yield Sample("boundary", label, value)


def _boundaries(branch: JsonSchema, item: object) -> Iterator[tuple[str, object]]:
    yield from _number_boundaries(branch)
    yield from _length_boundaries(branch)
    yield from _item_boundaries(branch, item)
    for value in branch.get("enum", [])[:_LISTED_MAX]:
        yield "one of those listed", value
    for value in branch.get("enum", [])[:1]:
        if isinstance(value, str):
            yield "one of those listed, in other letters", value.swapcase()
            yield "one of those listed, and a space", f"{value} "
    if "const" in branch:
        yield "the only value", branch["const"]


def _number_boundaries(branch: JsonSchema) -> Iterator[tuple[str, int | float]]:
    for key, outward, is_least in (
        ("minimum", -1, True),
        ("maximum", 1, False),
        ("exclusiveMinimum", -1, True),
        ("exclusiveMaximum", 1, False),
    ):
        bound = branch.get(key)
        if not isinstance(bound, int | float) or not math.isfinite(bound):
            continue
        step = 1 if branch.get("type") == "integer" else abs(bound) * 1e-9 or 1e-9
        word = "least" if is_least else "greatest"
        yield (
            f"the {word} allowed" if not key.startswith("ex") else f"the bound, not the {word} allowed",
            bound,
        )
        yield "just outside the bound", bound + outward * step
        yield "just inside the bound", bound - outward * step
    if isinstance(multiple := branch.get("multipleOf"), int | float):
        yield "a multiple", multiple * 3
        yield "between two multiples", multiple * 3.5


def _length_boundaries(branch: JsonSchema) -> Iterator[tuple[str, str]]:
    least, most = branch.get("minLength", 0), branch.get("maxLength")
    if 0 < least <= _TEXT_LENGTH_MAX:
        yield "the shortest allowed", "a" * least
        yield "a character too short", "a" * (least - 1)
    if most is not None and most <= _TEXT_LENGTH_MAX:
        yield "the longest allowed", "a" * most
        yield "a character too long", "a" * (most + 1)


def _item_boundaries(branch: JsonSchema, item: object) -> Iterator[tuple[str, list[object]]]:
    least, most = branch.get("minItems", 0), branch.get("maxItems")
    if 0 < least <= _ITEMS_MAX:
        yield "the fewest items allowed", [item] * least
        yield "an item too few", [item] * (least - 1)
    if most is not None and most <= _ITEMS_MAX:
        yield "the most items allowed", [item] * most
        yield "an item too many", [item] * (most + 1)
    if branch.get("uniqueItems"):
        yield "an item twice", [item, item]


def _changed(arguments: ToolArguments, n: int, locations: list[Location]) -> Case:
    """Return generated arguments with one change, which depends on `n`."""
    location = locations[n % len(locations)]
    if not location.path:
        name = next(iter(arguments), None)
        rest = {key: value for key, value in arguments.items() if key != name}
        return Case("changed", f"drawn {n}, without {name}", rest)
    samples = hostile.samples_of_any_kind()
    _, label, value = samples[n // len(locations) % len(samples)]
    changed = put_value(arguments, location, value, locations)
    return Case("changed", f"drawn {n}, {location.name}: {label}", changed)
