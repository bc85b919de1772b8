"""Kinds of stored values, which this release and later ones write and read. Pure.

A new field needs no new version, but names its format with `since` and has a default. If a written value changes its
meaning or its form, the kind gets the next version, and an upcaster from the previous one, which stays. The version
is written first, unless it is 1.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from antiphon_shared.formats import FORMAT, CannotCarryOver, Fields, Upcaster, as_json, carried_over
from antiphon_shared.process.errors import NewerFormat, UnreadableEvent

ValueT = TypeVar("ValueT")

_VERSION = "stored_version"


class Kind(Generic[ValueT]):
    """One kind of stored value, such as the coordinator's document of a session."""

    def __init__(
        self,
        name: str,
        model: Any,
        *,
        version: int = 1,
        upcasters: Mapping[int, Upcaster] | None = None,
        writes_defaults: bool = True,
    ) -> None:
        """Take the class, or union of classes, of the value; `name` is the value's name in errors."""
        self.name, self.version = name, version
        self._model = model
        self._upcasters = upcasters or {}
        self._options = {} if writes_defaults else {"exclude_defaults": True}
        self._begins = self.versioned(b"{}")[:-1] + b","
        """The beginning of a value of this version."""

    @cached_property
    def _type(self) -> TypeAdapter[ValueT]:
        """Return the type, built on first use, as each program reads only a few kinds."""
        return TypeAdapter(self._model)

    def write(self, value: ValueT, format: int) -> bytes:
        """Return `value` as a release of `format` reads it."""
        assert isinstance(value, BaseModel), "a stored value is a model"
        return self.versioned(as_json(value, format, **self._options))

    def versioned(self, written: bytes) -> bytes:
        """Return the JSON object with the kind's version as its first field."""
        if self.version == 1:
            return written
        comma = b"" if written == b"{}" else b","
        return b'{"%s":%d' % (_VERSION.encode(), self.version) + comma + written[1:]

    def read(self, raw: bytes | str) -> ValueT:
        """Return the value in `raw`. Raises UnreadableEvent; NewerFormat for a value of a later release."""
        try:
            value: ValueT = self._type.validator.validate_json(
                raw if self.version == 1 else self._upcast(raw)
            )
        except ValidationError as error:
            refuse_newer(self.name, fields_of(raw), self.version)
            fault = error.errors(include_url=False, include_input=False)[0]
            path = ".".join(map(str, fault["loc"]))[:100] or "it"
            raise UnreadableEvent(f"{self.name} cannot be read: {path}: {fault['msg'][:200]}.") from None
        if value.__dict__.get("format", FORMAT) > FORMAT:
            refuse_newer(self.name, fields_of(raw), self.version)
        return value

    def read_fields(self, fields: Fields, version: int) -> ValueT:
        """Return the value of `fields`, which were written in `version`. Raises the errors of `read`."""
        return self.read(to_json(fields if version == 1 else {_VERSION: version, **fields}))

    def carried(self, fields: Fields, written: int, version: int) -> Fields:
        """Return `fields` of the version `written` in a later one. Raises UnreadableEvent."""
        try:
            return carried_over(fields, self._upcasters, written, version)
        except CannotCarryOver as error:
            raise UnreadableEvent(
                f"{self.name} of version {written} cannot be carried over: {error}."
            ) from None

    def _upcast(self, raw: bytes | str) -> bytes:
        if isinstance(raw, bytes) and raw.startswith(self._begins):
            return b"{" + raw[len(self._begins) :]
        fields = fields_of(raw)
        refuse_newer(self.name, fields, self.version)
        written = fields.pop(_VERSION, 1)
        return to_json(self.carried(fields, written, self.version))


def refuse_newer(what: str, fields: Mapping[str, object], version: int = 1) -> None:
    """Raise NewerFormat if a later release wrote the fields of `what`."""
    for name, newest in ((_VERSION, version), ("format", FORMAT)):
        written = fields.get(name, 1)
        if type(written) is int and written > newest:
            raise NewerFormat(what, written, newest)


def fields_of(raw: bytes | str) -> dict[str, Any]:
    """Return the fields of a JSON object; an empty dict for any other text."""
    try:
        fields = from_json(raw, allow_inf_nan=False)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}
