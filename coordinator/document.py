"""The stored form of a session: with its parts, or flat for sessions of a format before the parts. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import Field as DataclassField
from dataclasses import fields
from functools import cache
from itertools import compress
from operator import attrgetter, is_not
from typing import Any
from uuid import UUID

from antiphon_shared.formats import Fields, as_json, needed_format, newer_fields, since
from antiphon_shared.stored import Kind
from antiphon_shared.values import Value
from pydantic import BaseModel, Field, create_model
from pydantic_core import to_jsonable_python

from coordinator.session import PARTS, Session

_FORMAT_OF_PARTS = 3
"""The first format of sessions whose documents have parts."""
_FLAT: Mapping[str, str] = {
    "question": "query.question",
    "tenant": "query.tenant",
    "grant": "query.grant",
    "citations": "query.citations",
    "conversation": "query.conversation",
    "is_interactive": "query.is_interactive",
    "catalogue": "tools.catalogue",
    "tools": "tools.usable",
    "built_ins": "tools.built_ins",
    "offer": "tools.offer",
    "succeeded": "tools.succeeded",
    "failed_calls": "tools.failed_calls",
    "barren_rounds": "tools.barren_rounds",
    "has_handles": "tools.has_handles",
    "rounds_used": "spent.rounds",
    "tool_rounds_used": "spent.tool_rounds",
    "tool_calls_used": "spent.tool_calls",
    "usage": "spent.usage",
    "tokens_estimated": "spent.tokens_estimated",
    "tokens_counted": "spent.tokens_counted",
    "reasoning": "material.reasoning",
    "results": "material.results",
    "untrusted_calls": "material.untrusted_calls",
    "has_untrusted": "material.has_untrusted",
    "has_omissions": "material.has_omissions",
    "missed": "material.missed",
    "model": "models.own",
    "models": "models.order",
    "asked_model": "models.asked",
    "unusable": "models.unusable",
    "outages": "models.outages",
    "rests": "models.rests",
    "model_failures": "models.failures",
    "reasoning_failures": "models.round_failures",
    "pauses": "models.pauses",
    "waits_for_model": "models.waits",
    "is_last_call": "models.is_last_call",
    "pending": "people.pending",
    "undecided": "people.undecided",
    "unanswered": "people.unanswered",
    "summary_awaiting": "summaries.awaiting",
    "summary": "summaries.ready",
    "summaries_asked": "summaries.asked",
    "summary_failures": "summaries.failures",
    "summary_tokens": "summaries.tokens",
    "in_doubt": "writes.in_doubt",
    "writes": "writes.made",
}
"""Paths in version 2 of the fields of version 1; fields that are missing here are at the top level in both."""
_REQUIRED = ("id", "question", "limits", "catalogue", "tools", "model", "opened", "deadline")
"""Fields that version 1 always writes."""
_SINCE = {"format": 2, "tool_rounds_used": 2, "writes": 2}
"""Fields that a later format introduced into version 1."""


def document_version(format: int) -> int:
    """Return the version of the document of sessions of a format."""
    return 1 if format < _FORMAT_OF_PARTS else 2


class _SessionDocument(Kind[Session]):
    """The kind of a session's document, in the version of the session's format."""

    def write(self, value: Session, format: int) -> bytes:
        if document_version(format) == 1:
            return as_json(_flat(value), format, exclude_defaults=True)
        return self.versioned(self._type.serializer.to_json(value, exclude_defaults=True))

    def opened(self, session: Session) -> Fields:
        """Return the fields that differ from their defaults, as JSON."""
        if document_version(session.format) == 1:
            exclude = newer_fields(flat := _flat(session), session.format)
            return flat.model_dump(mode="json", exclude_defaults=True, exclude=exclude)
        written: Fields = self._type.dump_python(session, mode="json", exclude_defaults=True)
        return written


def nested(written: Fields) -> Fields:
    """Return the fields of version 1 of the document in the structure of version 2."""
    parts: Fields = {}
    for name, value in written.items():
        part, _, inner = _FLAT.get(name, name).partition(".")
        if inner:
            parts.setdefault(part, {})[inner] = value
        elif name == "awaiting":
            parts[name] = [] if value is None else [value]
        else:
            parts[name] = value
    return parts


SESSION = _SessionDocument("the session's document", Session, version=2, upcasters={1: nested})


def in_format(session: Session, format: int) -> Session:
    """Return the session as a release of `format` understands it, with newer fields at their defaults."""
    if document_version(format) > 1 or needed_format(_flat(session))[0] <= format:
        return session
    return SESSION.read(SESSION.write(session, format))


def changes(before: Session | None, after: Session) -> Fields:
    """Return the fields of `after` that differ, as JSON; parts of the session also contain only such fields.

    For a session that is opened, return all fields that differ from their defaults.
    """
    if before is None:
        return SESSION.opened(after)
    if document_version(after.format) == 1:
        return _changed(_flat(before), now := _flat(after), newer_fields(now, after.format))
    then = before.__dict__
    return {
        name: _changed(then[name], value, {}) if name in PARTS else to_jsonable_python(value)
        for name, value in _replaced(then, after.__dict__)
        if value != then[name]
    }


def merged(fields: Fields, changed: Fields, version: int) -> Fields:
    """Return the fields of a document of that version after a decision's changes."""
    if version == 1:
        return fields | changed
    parts = [name for name in PARTS if isinstance(changed.get(name), dict)]
    return fields | changed | {name: {**fields.get(name, {}), **changed[name]} for name in parts}


def _changed(before: object, after: object, newer: Fields) -> Fields:
    then = before.__dict__
    return {
        name: to_jsonable_python(value, exclude=newer.get(name))
        for name, value in _replaced(then, after.__dict__)
        if value != then[name] and newer.get(name) is not True
    }


def _replaced(before: Fields, after: Fields) -> Iterator[tuple[str, Any]]:
    """Yield the fields of `after` that are other objects than before.

    A decision copies the fields that it does not change, so most are the same objects. `map` and `compress` compare
    them without running Python code for each.
    """
    return compress(after.items(), map(is_not, after.values(), map(before.__getitem__, after)))


def _flat(session: Session) -> BaseModel:
    """Return the session in version 1 of its document."""
    values = {name: attrgetter(_FLAT.get(name, name))(session) for name in flat_model().model_fields}
    values["awaiting"] = session.pending_request
    return flat_model().model_construct(**values)


@cache
def flat_model() -> type[BaseModel]:
    """Return the class of version 1, made of today's fields on first use."""
    top = {field.name: field for field in fields(Session) if field.name not in PARTS}
    inner = {f"{part}.{field.name}": field for part in PARTS for field in fields(_type_of(part))}
    model: dict[str, Any] = {name: _field(name, field) for name, field in top.items()}
    model |= {name: _field(name, inner[path]) for name, path in _FLAT.items()}
    return create_model("FlatSession", __base__=Value, **model | {"awaiting": (UUID | None, None)})


def _field(name: str, field: DataclassField[Any]) -> tuple[Any, Any]:
    extra = since(_SINCE[name]) if name in _SINCE else None
    default = ... if name in _REQUIRED else field.default
    return field.type, Field(default, json_schema_extra=extra)


def _type_of(part: str) -> Any:
    return Session.__dataclass_fields__[part].type
