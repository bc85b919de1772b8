"""The AsyncAPI document matches the bus, as checked by an independent JSON Schema validator."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from antiphon_shared.bus.keys import Keys
from antiphon_shared.events import COMPONENTS, EventData, encode
from antiphon_shared.events.asyncapi import document
from antiphon_shared.events.codec import ENVELOPES, EVENT_DATA
from jsonschema import Draft7Validator, FormatChecker

from tests.rows import each_row
from tests.shared.events.examples import EXAMPLES, an_event, named

DOCUMENT = document()
ASYNCAPI_SCHEMA = json.loads(Path(__file__).with_name("asyncapi-3.0.0.json").read_text())


def validator(schema: str) -> Draft7Validator:
    """Return a validator of one of the document's schemas."""
    rooted = {"$ref": f"#/components/schemas/{schema}", "components": DOCUMENT["components"]}
    return Draft7Validator(rooted, format_checker=FormatChecker())


def payload_of(data: EventData) -> Any:
    return orjson.loads(encode(an_event(data)))


def faults(validator: Draft7Validator, instance: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(instance)]


def test_the_document_is_valid_asyncapi() -> None:
    assert faults(Draft7Validator(ASYNCAPI_SCHEMA), DOCUMENT) == []


def test_the_asyncapi_schema_refuses_a_document_that_is_not() -> None:
    spoiled = DOCUMENT | {"operations": {"x": {"action": "shout"}}}
    assert faults(Draft7Validator(ASYNCAPI_SCHEMA), spoiled)


def test_the_document_is_json_and_the_same_every_time() -> None:
    assert json.loads(json.dumps(DOCUMENT)) == document()


@each_row("schema", sorted(DOCUMENT["components"]["schemas"]))
def test_every_schema_is_a_json_schema(schema: str) -> None:
    Draft7Validator.check_schema(DOCUMENT["components"]["schemas"][schema])


def references(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [found for value in node.values() for found in references(value)]
    return [found for value in node for found in references(value)] if isinstance(node, list) else []


def test_every_reference_leads_somewhere() -> None:
    for reference in references(DOCUMENT):
        place: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
        assert place, reference


def test_no_schema_is_left_over() -> None:
    used = {reference.rpartition("/")[2] for reference in references(DOCUMENT)}
    assert set(DOCUMENT["components"]["schemas"]) - used == {"QueryOptions"} - used


@each_row("data", EXAMPLES, ids=named)
def test_the_payload_of_an_event_matches_its_schema(data: EventData) -> None:
    assert faults(validator(ENVELOPES[type(data)].__name__), payload_of(data)) == []


@each_row("data", EXAMPLES, ids=named)
def test_a_schema_accepts_no_other_event(data: EventData) -> None:
    check = validator(ENVELOPES[type(data)].__name__)
    accepted = [other for other in EXAMPLES if not faults(check, payload_of(other))]
    assert accepted == [data]


@each_row("data", EXAMPLES, ids=named)
def test_a_schema_refuses_the_same_payloads_as_decode(data: EventData) -> None:
    check = validator(ENVELOPES[type(data)].__name__)
    payload = payload_of(data)
    assert faults(check, payload | {"surplus": 1})
    assert faults(check, payload | {"data": payload["data"] | {"surplus": 1}})
    for name in ("id", "source", "type", "subject", "time", "correlationid", "data", "specversion"):
        assert faults(check, {key: value for key, value in payload.items() if key != name}), name
    for name, info in type(data).model_fields.items():
        if info.is_required():
            rest = {key: value for key, value in payload["data"].items() if key != name}
            assert faults(check, payload | {"data": rest}), name


def test_every_event_has_a_message_of_its_type() -> None:
    messages = DOCUMENT["components"]["messages"]
    assert {data.type for data in EVENT_DATA} == {
        message["name"] for message in messages.values() if "name" in message
    }


def test_the_addresses_are_the_keys_of_the_bus() -> None:
    keys = Keys()
    expected = {
        "queries": keys.queries(),
        "rejected": keys.rejected(),
        "responses": keys.responses(0),
        "feed": keys.feed(0),
        "log": keys.log("s1"),
        **{f"inbox_{component}": keys.inbox(0, component) for component in COMPONENTS},
    }
    addresses = {
        name: channel["address"].replace("{partition}", "{0}").replace("{session}", "s1")
        for name, channel in DOCUMENT["channels"].items()
    }
    assert addresses == expected


def test_every_inbox_lists_its_events() -> None:
    for component in COMPONENTS:
        listed = set(DOCUMENT["channels"][f"inbox_{component}"]["messages"])
        assert listed == {data.__name__ for data in EVENT_DATA if data.inbox == component}


@pytest.mark.parametrize(
    ("entry", "is_valid"),
    [
        ({"query": "Why?"}, True),
        ({"query": "Why?", "session_id": "s1", "options": "{}", "traceparent": "00"}, True),
        ({"event": "{}"}, True),
        ({}, False),
        ({"event": "{}", "query": "Why?"}, False),
        ({"event": "{}", "session_id": "s1"}, False),
        ({"query": "Why?", "surplus": "1"}, False),
    ],
)
def test_the_intake_takes_a_query_in_fields_or_as_an_event(entry: dict[str, str], is_valid: bool) -> None:
    assert (faults(validator("Submission"), entry) == []) is is_valid
