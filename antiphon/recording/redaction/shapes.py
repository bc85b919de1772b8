"""The parts of a line that may be replaced, according to the types of its fields. Pure.

Numbers, times, ids and fixed words stay, as the pipeline decides by them. Texts and names lose their secrets. Values in
a foreign form, such as a tool's arguments, are also searched for secret keys.
"""

import re
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from antiphon_shared.events import (
    AnyEvent,
    CancellationRequested,
    ChildEnded,
    ChildWaiting,
    InputGiven,
    QuerySubmitted,
)
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.events.step_records import DecisionRecord, ModelCall, ModelError, SendRecord
from antiphon_shared.output.steps import Step
from antiphon_shared.tools.calls import ToolDefinition
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from antiphon.recording.lines import (
    CatalogueLine,
    ContentLine,
    EventLine,
    Header,
    Line,
    RecordLine,
    SpecificationLine,
)
from coordinator.document import flat_model
from coordinator.session import Session

_IN_TEXT, _AS_NAME = "[redacted 1]", "redacted-1"
"""The placeholders for a secret; names allow no brackets and spaces."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value that stays unchanged."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or a structure whose keys do not suggest secrets."""

    characters_max: int | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A text of letters, digits, and signs such as `-`."""

    characters_max: int


@dataclass(frozen=True, slots=True)
class Open:
    """JSON in a foreign form."""


@dataclass(frozen=True, slots=True)
class References(Open):
    """JSON of a workflow's author; a text in it that is one reference, such as `$order.key`, is no value."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A signed token."""


@dataclass(frozen=True, slots=True)
class Headers:
    """Headers of an HTTP answer."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema: its keys are names of parameters, and only its defaults and examples are values."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request to the Messages API, or a reply."""


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with known fields."""

    shapes: dict[str, "Shape"]


@dataclass(frozen=True, slots=True)
class Each:
    """A list, or an object by names, whose values share one shape."""

    shape: "Shape"


Shape = Fixed | Text | Name | Open | Grant | Headers | Schema | Exchange | Fields | Each

_BY_FIELD: dict[tuple[type[BaseModel], str], Shape] = {
    (ModelCall, "headers"): Headers(),
    (ModelError, "headers"): Headers(),
    (ModelCall, "request"): Exchange(),
    (ModelCall, "reply"): Exchange(),
    (ModelError, "partial"): Exchange(),
    (ToolDefinition, "input_schema"): Schema(),
    (QueryOptions, "output_schema"): Schema(),
    (Step, "output"): Schema(),
    (ContentLine, "content"): Exchange(),
}


def shape_of(line: Line) -> Shape:
    """Return the shape of the line's event, record, catalogue or content, or of the whole line."""
    match line:
        case EventLine(event=event):
            return _of_event(type(event), type(event.data))
        case RecordLine(record=DecisionRecord(document_version=1)):
            return _of_flat_decision()
        case RecordLine(record=record):
            return _of_model(type(record))
        case CatalogueLine():
            return _of_type(type(line.catalogue))
        case ContentLine():
            return Exchange()
        case Header():
            return _of_model(Header)
        case SpecificationLine():
            return Fields({"line": Fixed(), "hash": Fixed(), "specification": _of_specification()})
        case _:
            return Fixed()


@cache
def _of_specification() -> Shape:
    """Return the shape of workflows, in which arguments and defaults are values, and all else is text."""
    called = Fields({"args": References()})
    node: dict[str, Shape] = {"args": References(), "compensate": called, "steps": Each(called)}
    node |= {"expects": Schema(), "branches": Each(Fields(node)), "step": Fields(node)}
    workflow = Fields({"params": Schema(), "graph": Each(Fields(node))})
    return Fields({"workflows": Each(workflow)})


@cache
def _of_event(envelope: type[AnyEvent], data: type[BaseModel]) -> Shape:
    shapes = {name: _of_field(envelope, name) for name in envelope.model_fields}
    return Fields({**shapes, "data": _of_model(data)})


@cache
def _of_model(kind: type[BaseModel]) -> Shape:
    return Fields({name: _of_field(kind, name) for name in kind.model_fields})


@cache
def _of_sent() -> Shape:
    """Return the shape of the events for other sessions: a field name has one shape in all of them."""
    kinds = (QuerySubmitted, CancellationRequested, InputGiven, ChildWaiting, ChildEnded)
    return Fields({name: _of_field(kind, name) for kind in kinds for name in kind.model_fields})


@cache
def _of_flat_decision() -> Shape:
    """Return the shape of a decision on a document of the first version, without parts."""
    shapes = {name: _of_field(DecisionRecord, name) for name in DecisionRecord.model_fields}
    return Fields({**shapes, "changed": _of_model(flat_model())})


@cache
def _of_dataclass(kind: Any) -> Shape:
    return Fields({one.name: Grant() if one.name == "grant" else _of_type(one.type) for one in fields(kind)})


def _of_field(kind: type[BaseModel], name: str) -> Shape:
    if name == "grant":
        return Grant()
    if (kind, name) == (
        QueryOptions,
        "steps",
    ):  # a recorded session has the list, also where a name was given
        return Each(_of_model(Step))
    if (kind, name) in _BY_FIELD:
        return _BY_FIELD[kind, name]
    if (kind, name) == (DecisionRecord, "changed"):
        return _of_dataclass(Session)
    if (kind, name) == (SendRecord, "data"):
        return _of_sent()
    field = kind.model_fields[name]
    return _of_type(field.annotation, tuple(field.metadata))


def _of_type(kind: object, metadata: tuple[Any, ...] = ()) -> Shape:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _of_type(arguments[0], (*metadata, *arguments[1:]))
    if kind is str:
        return _of_text(metadata)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _of_model(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return _of_dataclass(kind)
    if origin in (Union, UnionType):
        shapes = [_of_type(one, metadata) for one in arguments if one is not NoneType]
        return shapes[0] if len(shapes) == 1 else Text()
    if kind is Any or (origin is dict and arguments[1] is Any):
        return Open()
    if origin is dict:
        return Each(_of_type(arguments[1]))
    if origin is tuple and arguments[-1] is Ellipsis:
        return Each(_of_type(arguments[0]))
    if origin in (list, set, frozenset):
        return Each(_of_type(arguments[0]))
    return Text() if origin is tuple else Fixed()


def _of_text(metadata: tuple[Any, ...]) -> Shape:
    """Return the shape of a text, by its pattern if it has one."""
    parts = [one for part in metadata for one in (part.metadata if isinstance(part, FieldInfo) else (part,))]
    patterns = [part.pattern for part in parts if isinstance(getattr(part, "pattern", None), str)]
    if not _fits(_IN_TEXT, patterns):
        return Name(_longest(patterns)) if _fits(_AS_NAME, patterns) else Fixed()
    longest = [part.max_length for part in parts if getattr(part, "max_length", None)]
    return Text(min(longest, default=None))


def _longest(patterns: list[str]) -> int:
    return max((n for n in (16, 32, 64, 128, 256) if _fits("a" * n, patterns)), default=len(_AS_NAME))


def _fits(form: str, patterns: list[str]) -> bool:
    return all(re.search(pattern, form) for pattern in patterns)
