"""The AsyncAPI 3 document of the whole bus, generated from the models, for `antiphon events schema`. Pure."""

from collections.abc import Iterable
from inspect import getdoc
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from antiphon_shared.events.base import COMPONENTS, EventData, emitter_of
from antiphon_shared.events.client import GRANT_LENGTH_MAX, QuerySubmitted
from antiphon_shared.events.codec import ENVELOPES, EVENT_DATA
from antiphon_shared.events.response_assembler import ResponseReady
from antiphon_shared.events.session import QueryOptions

VERSION = "3.0.0"
CONTENT_TYPE = "application/cloudevents+json"

_ABOUT = """\
Five components exchange CloudEvents 1.0 over Redis Streams. A message is the JSON in the field `event` of a
stream entry, unless its channel says otherwise. Addresses are Redis keys; `antiphon` in them stands for
ANTIPHON_NAMESPACE."""

_PARTITION = {
    "default": "{0}",
    "examples": ["{0}", "{1}"],
    "description": "The partition's number in literal braces, which are a Redis Cluster hash tag: with one "
    "partition the stream of responses is `antiphon:{0}:responses`. A session's partition is the CRC-32 of "
    "its id modulo ANTIPHON_PARTITIONS.",
}
_SESSION = {"description": "The session's id.", "examples": ["course-question-1"]}
_TEXT = {"type": "string"}

Document = dict[str, Any]


def document() -> Document:
    """Return the whole document, as JSON."""
    return {
        "asyncapi": VERSION,
        "info": {"title": "Antiphon", "version": "1.0.0", "description": _ABOUT},
        "defaultContentType": CONTENT_TYPE,
        "channels": _channels(),
        "operations": _operations(),
        "components": {"messages": _messages(), "schemas": _schemas()},
    }


def _channels() -> Document:
    every = [data.__name__ for data in EVENT_DATA]
    channels = {
        "queries": _channel(
            "antiphon:queries",
            "Submissions of clients. The entry's fields are the message.",
            ["Submission"],
        ),
        "rejected": _channel(
            "antiphon:queries:rejected",
            "Rejected submissions. The entry's fields are the message.",
            ["Rejection"],
        ),
        "responses": _channel(
            "antiphon:{partition}:responses",
            "The one answer of every session. The entry also has the field `session_id`.",
            [ResponseReady.__name__],
        ),
        "feed": _channel(
            "antiphon:{partition}:events",
            "Live feed for observers, capped: a pointer to every event. The entry's fields are the message.",
            ["Pointer"],
        ),
        "log": _channel(
            "antiphon:{partition}:session:{session}:events",
            "Every event of one session, whole and in order: its recording.",
            every,
        ),
    }
    for component in COMPONENTS:
        channels[f"inbox_{component}"] = _channel(
            f"antiphon:{{partition}}:inbox:{component}",
            f"Inbox of {component}. The field `log` is the id of the event's entry in its session's "
            "log; `attempt`, if present, counts earlier failures of handlers.",
            [data.__name__ for data in EVENT_DATA if data.inbox == component],
        )
    return channels


def _channel(address: str, description: str, messages: list[str]) -> Document:
    parameters = {
        name: parameter
        for name, parameter in (("partition", _PARTITION), ("session", _SESSION))
        if f"{{{name}}}" in address
    }
    return {
        "address": address,
        "description": description,
        **({"parameters": parameters} if parameters else {}),
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
    }


def _operations() -> Document:
    """Return the messages that each actor sends and receives, by names such as `client_submits`."""
    operations = {
        "client_submits": _operation("send", "queries", ["Submission"]),
        "coordinator_takes_in": _operation("receive", "queries", ["Submission"]),
        "coordinator_rejects": _operation("send", "rejected", ["Rejection"]),
        "client_receives_responses": _operation("receive", "responses", [ResponseReady.__name__]),
        "response_assembler_answers": _operation("send", "responses", [ResponseReady.__name__]),
        "observer_receives_feed": _operation("receive", "feed", ["Pointer"]),
    }
    for component in COMPONENTS:
        received = [data.__name__ for data in EVENT_DATA if data.inbox == component]
        operations[f"{component}_receives"] = _operation("receive", f"inbox_{component}", received)
    for data in EVENT_DATA:
        if data.inbox is None:
            channel, name = "log", f"{emitter_of(data)}_notes_{data.__name__}"
        else:
            channel, name = f"inbox_{data.inbox}", f"{emitter_of(data)}_sends_{data.__name__}"
        operations[name] = _operation("send", channel, [data.__name__])
    return operations


def _operation(action: str, channel: str, messages: list[str]) -> Document:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{name}"} for name in messages],
    }


def _messages() -> Document:
    messages = {
        data.__name__: {
            "name": data.type,
            "summary": _first_line(data),
            "contentType": CONTENT_TYPE,
            "payload": {"$ref": f"#/components/schemas/{ENVELOPES[data].__name__}"},
        }
        for data in EVENT_DATA
    }
    for name, summary in (
        ("Submission", "A query, in fields or as a whole event."),
        ("Rejection", "A rejected submission, and the reason."),
        ("Pointer", "A pointer to an event."),
    ):
        payload = {"$ref": f"#/components/schemas/{name}"}
        messages[name] = {"summary": summary, "contentType": "application/json", "payload": payload}
    return messages


def _schemas() -> Document:
    """Return the schemas of all events as they are read, and of the entries that are not events.

    Fields with a default may be absent, as `encode` leaves out nulls; only the fields that make a CloudEvent
    are always there.
    """
    models: list[type[BaseModel]] = [*ENVELOPES.values(), QueryOptions]
    _, definitions = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    schemas: Document = definitions["$defs"]
    for data, envelope in ENVELOPES.items():
        schema = schemas[envelope.__name__]
        schema["description"] = _first_line(data)
        schema["required"] = ["specversion", "type", *schema["required"]]
    schemas["Submission"] = _submission()
    schemas["Rejection"] = _entry(
        {
            "entry": _TEXT | {"description": "Id of the submission's entry in the queue."},
            "code": _TEXT,
            "reason": _TEXT | {"description": "The invalid field, and the correction."},
        },
        required=("entry", "code", "reason"),
        patternProperties={"^original\\.": _TEXT | {"description": "A field as it was submitted."}},
    )
    schemas["Pointer"] = _entry(
        {
            "session": _TEXT | {"description": "The session's id."},
            "type": {"enum": [data.type for data in EVENT_DATA]},
            "entry": _TEXT | {"description": "The event's entry in the session's log."},
        },
        required=("session", "type", "entry"),
    )
    return schemas


def _submission() -> Document:
    event = f"#/components/schemas/{ENVELOPES[QuerySubmitted].__name__}"
    options = "#/components/schemas/QueryOptions"
    fields = {
        "query": _TEXT | {"description": "The user's question."},
        "session_id": _TEXT
        | {"description": "An id chosen by the client; submitting it twice opens one session."},
        "options": _TEXT | {"contentMediaType": "application/json", "description": f"JSON of {options}."},
        "grant": _TEXT
        | {
            "contentMediaType": "application/jwt",
            "maxLength": GRANT_LENGTH_MAX,
            "description": "Signed permissions of the session; default: the operator's default scopes.",
        },
        "traceparent": _TEXT | {"description": "W3C trace context."},
        "event": _TEXT
        | {
            "contentMediaType": CONTENT_TYPE,
            "description": f"JSON of {event}; cannot be combined with other fields.",
        },
    }
    schema = _entry(fields, required=())
    schema["oneOf"] = [
        {"required": ["query"], "not": {"required": ["event"]}},
        {"required": ["event"], "maxProperties": 1},
    ]
    return schema


def _entry(fields: Document, required: Iterable[str], **more: Document) -> Document:
    """Return the schema of a stream entry whose fields are the message."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def _first_line(data: type[EventData]) -> str:
    return (getdoc(data) or "").partition("\n")[0]
