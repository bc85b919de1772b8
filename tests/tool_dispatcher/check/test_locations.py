"""The locations at which a schema allows values, and the access to them."""

from typing import Any

from pydantic import BaseModel

from tool_dispatcher.authoring.tool import tool
from tool_dispatcher.check.locations import Location, locations_in, put_value, value_at


class Address(BaseModel):
    street: str
    zip: str = "12345"


class Node(BaseModel):
    name: str
    children: list["Node"] = []


@tool(effect="read")
def order(
    to: Address | None, lines: list[Address], size: int | str = 1, anything: dict[str, Any] | None = None
) -> str:
    """Orders."""
    return ""


@tool(effect="read")
def grow(node: Node) -> str:
    """Grows."""
    return ""


SCHEMA = order.parameters.schema
LOCATIONS = {location.name: location for location in locations_in(SCHEMA)}


def test_every_parameter_and_nested_field_is_a_location() -> None:
    assert list(LOCATIONS) == [
        "the arguments",
        "to",
        "lines",
        "size",
        "anything",
        "to.street",
        "to.zip",
        "lines[0]",
        "lines[0].street",
        "lines[0].zip",
    ]


def test_a_location_lists_every_type_it_takes() -> None:
    assert LOCATIONS["size"].types == {"integer", "string"}
    assert LOCATIONS["to"].types == {"object", "null"}
    assert LOCATIONS["to.zip"].accepts("string")
    assert not LOCATIONS["to.zip"].accepts("integer", "object")


def test_a_location_without_a_type_takes_anything() -> None:
    (_, location) = locations_in({"type": "object", "properties": {"x": {}}})
    assert location.accepts("string")
    assert location.accepts("array")


def test_a_recursive_schema_has_finitely_many_locations() -> None:
    names = [location.name for location in locations_in(grow.parameters.schema)]
    assert "children[0].children" in names
    assert max(name.count(".") for name in names) < 4


def test_the_number_of_locations_of_a_large_schema_is_bounded() -> None:
    wide = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(1_000)}}
    assert len(locations_in(wide)) == 60


def test_a_value_is_inserted_at_its_location_and_nothing_else_changes() -> None:
    base = {"to": {"street": "A"}, "lines": [{"street": "B"}, {"street": "C"}]}
    assert the_call(base, "lines[0].street", 7) == {
        "to": {"street": "A"},
        "lines": [{"street": 7}, {"street": "C"}],
    }
    assert base == {"to": {"street": "A"}, "lines": [{"street": "B"}, {"street": "C"}]}


def test_required_surroundings_of_a_value_are_filled_with_examples() -> None:
    made = the_call({"to": None, "lines": []}, "to.zip", 7)
    assert made == {"to": {"street": "text", "zip": 7}, "lines": []}
    assert value_at(made, ("to", "zip")) == 7
    assert value_at(made, ("to", "city")) is None


def the_call(base: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    location: Location = LOCATIONS[name]
    return put_value(base, location, value, list(LOCATIONS.values()))
