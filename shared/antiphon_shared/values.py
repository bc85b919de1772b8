"""The base of all data, which is frozen and refuses unknown fields; and common types."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

Json: TypeAlias = JsonValue
"""A JSON value."""
JsonObject: TypeAlias = dict[str, Json]
JsonSchema: TypeAlias = dict[str, Any]
"""A JSON Schema, whose keywords define the types of their values."""
ToolArguments: TypeAlias = dict[str, Any]
"""The arguments of a call, which the tool's schema defines."""

_set = object.__setattr__
ValueT = TypeVar("ValueT", bound="Value")


class Value(BaseModel):
    """An immutable value. It refuses unknown fields, NaN and infinities."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    # The next two work as in pydantic, with a third of its calls, as a value has no extra and no private fields.

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields of `update` changed, which are not validated."""
        if deep:
            return super().model_copy(update=update, deep=True)
        changed = update or {}
        return _construct(
            type(self), {**self.__dict__, **changed}, self.__pydantic_fields_set__.union(changed)
        )

    @classmethod
    def trusted(cls, **fields: Any) -> Self:
        """Return a value without validation; `fields` must be all of its fields, in their order."""
        assert [*fields] == [*cls.__pydantic_fields__], (
            "the fields are all fields of the class, in their order"
        )
        return _construct(cls, fields, set(fields))

    def __eq__(self, other: object) -> bool:
        if type(self) is type(other):
            own, others = self.__dict__, other.__dict__
            if own == others:
                return True
            if len(own) == len(others) == len(type(self).__pydantic_fields__):
                return False
        return super().__eq__(other)  # another class, or cached properties next to the fields


def members(value: object) -> Collection[Any]:
    """Return the values in a JSON object or list; none for any other value."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _construct(kind: type[ValueT], fields: dict[str, Any], fields_set: set[str]) -> ValueT:
    made = kind.__new__(kind)
    _set(made, "__dict__", fields)
    _set(made, "__pydantic_fields_set__", fields_set)
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made


SessionId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}(~[0-9a-f]{16})?$"),
    Field(description="1 to 128 letters, digits, '.', '_', ':' or '-', the first a letter or digit."),
]

LogEntry = Annotated[
    str,
    StringConstraints(pattern=r"^\d{1,20}-\d{1,20}$"),
    Field(description="The place of an event in its session's log: a Redis stream id."),
]

Tenant = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""The tenant of a session."""

DEFAULT_TENANT = "default"
"""The tenant of a session without a grant, or with a grant that names none."""

Round = Annotated[int, Field(ge=1, le=10_000_000, description="Counts from 1; for a run, its requests.")]


class Usage(Value):
    """The tokens that a model read and wrote, and their cost if prices are configured."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)

    @property
    def total_tokens(self) -> int:
        """Return the number of tokens that count against a token budget."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum; its cost is None if that of one part is."""
        costs = (self.cost_usd, other.cost_usd)
        known_costs = [cost for cost in costs if cost is not None]
        return Usage.trusted(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cost_usd=sum(known_costs) if len(known_costs) == 2 else None,
        )
