"""The source of each argument in a chain of calls. Pure.

Several sessions with the same calls are examined together: an argument has one value in each, and its source has to
explain all of them. The first source that does is chosen:

1. the result that the model itself named by a placeholder;
2. the question: a param. Results often repeat the question's values, so this precedes them;
3. the source of an earlier argument with the same distinctive value;
4. an earlier result: the newest call's with the value, at the least depth, then under a key like the argument's name,
   then the first;
5. a literal, if the value is the same in all sessions;
6. a param.

A secret, by the mark of its tool's author or because a recording has it redacted, is never written into the file: it
comes from a result, or is a param of its own.

See values.py for distinctive values. A value that is not distinctive, or that the tool's schema lists in an enum, is
taken from a result only if the result holds it once in all, under a key like the argument's name.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.values import JsonSchema, members
from antiphon_shared.workflows.references import ReferenceMissing, look_up

from antiphon.recipes.chain import Chain
from antiphon.recipes.sources import Bound, FromParam, FromResult, Literal, Source, reference_to
from antiphon.recipes.values import (
    Question,
    SearchedValues,
    ValuePath,
    identity,
    is_alike,
    is_distinctive,
    texts_in,
)
from tool_dispatcher.authoring.secret import holds_secret

_ANY_NAME = "node"
_REDACTED = "[redacted"


def bind(chains: Sequence[Chain]) -> list[dict[str, Bound]]:
    """Return the arguments of each call. The chains have the same tools in the same order."""
    return [*_Binding(chains).calls()]


@dataclass(frozen=True, slots=True)
class _Argument:
    """A value of a call: its content in each session, and its path."""

    call: int
    path: ValuePath
    values: tuple[Any, ...]
    schema: JsonSchema

    @property
    def name(self) -> str:
        return next((str(part) for part in reversed(self.path) if isinstance(part, str)), "value")

    @property
    def is_varied(self) -> bool:
        """Return whether all sessions have different values, so that a coincidence is unlikely."""
        return len(self.values) > 1 and len({*map(identity, self.values)}) == len(self.values)

    @property
    def is_redacted(self) -> bool:
        """Return whether the value is redacted in one of the sessions, so that its content is unknown."""
        return any(_REDACTED in text for text in texts_in(self.values))

    @property
    def key(self) -> str:
        return identity(self.values)


@dataclass
class _Binding:
    chains: Sequence[Chain]
    bound: dict[str, FromParam | Literal] = field(default_factory=dict)
    """The sources of distinctive values of earlier arguments."""

    def __post_init__(self) -> None:
        self._questions = [Question(chain.question) for chain in self.chains]
        first = self.chains[0].calls
        argument_values = SearchedValues(value for call in first for value in _values_in(call.arguments))
        self._paths = [argument_values.paths(call.result) if call.has_own_result else {} for call in first]
        self._names_of_numbers: defaultdict[str, set[str]] = defaultdict(set)
        for n in range(len(first)):
            for one in self._leaves(self._bind_call(n)):
                if isinstance(one.values[0], int | float):
                    self._names_of_numbers[one.key].add(one.name)

    def calls(self) -> Iterator[dict[str, Bound]]:
        for n, call in enumerate(self.chains[0].calls):
            inner = self._inner(self._bind_call(n))
            yield {name: self._bind(one) for name, one in zip(call.arguments, inner, strict=True)}

    def _bind_call(self, call: int) -> _Argument:
        values = tuple(chain.calls[call].arguments for chain in self.chains)
        return _Argument(call, (), values, self.chains[0].calls[call].definition.input_schema)

    def _bind(self, one: _Argument) -> Bound:
        first = one.values[0]
        is_container = isinstance(first, dict | list) and not one.is_redacted
        source = self._placeholder(one) or self._result(one) if is_container else None
        if source is not None:
            return source
        if not _has_parts(one.values):
            return self._source(one)
        inner = map(self._bind, self._inner(one))
        return dict(zip(first, inner, strict=True)) if isinstance(first, dict) else [*inner]

    def _inner(self, one: _Argument) -> Iterator[_Argument]:
        first = one.values[0]
        for part in first if isinstance(first, dict) else range(len(first)):
            values = tuple(value[part] for value in one.values)
            yield _Argument(one.call, (*one.path, part), values, _schema_of(one.schema, part))

    def _leaves(self, one: _Argument) -> Iterator[_Argument]:
        if not _has_parts(one.values):
            yield one
            return
        for inner in self._inner(one):
            yield from self._leaves(inner)

    def _source(self, one: _Argument) -> Source:
        if one.is_redacted:
            return self._secret(one)
        if self._is_secret(one):
            return self._placeholder(one) or self._result(one) or self._secret(one)
        if placeholder := self._placeholder(one):
            return placeholder
        if self._is_in_question(one):
            return self._remembered(one, self._param(one))
        if one.key in self.bound:
            return self.bound[one.key]
        if result := self._result(one):
            return result
        is_fixed = len({*map(identity, one.values)}) == 1
        return self._remembered(one, Literal(one.values[0]) if is_fixed else self._param(one))

    def _is_secret(self, one: _Argument) -> bool:
        return holds_secret(self.chains[0].calls[one.call].definition.input_schema, one.path)

    def _secret(self, one: _Argument) -> FromParam:
        key = f"{one.call} {one.path}"  # two redacted values look alike
        return FromParam(key, one.name, one.values, one.schema, is_secret=True)

    def _remembered(self, one: _Argument, source: FromParam | Literal) -> FromParam | Literal:
        if all(map(is_distinctive, one.values)):
            return self.bound.setdefault(one.key, source)
        return source

    def _param(self, one: _Argument) -> FromParam:
        """Return a param: one for all equal distinctive texts; other values share one by argument name."""
        is_one = all(isinstance(value, str) and is_distinctive(value) for value in one.values)
        key = one.key if is_one else f"{one.name} {one.key}"
        return FromParam(key, one.name, one.values, one.schema)

    def _is_in_question(self, one: _Argument) -> bool:
        pairs = [*zip(self._questions, one.values, strict=True)]
        if not all(question.contains(value) for question, value in pairs):
            return False
        names = len(self._names_of_numbers.get(one.key, ()))
        return names <= 1 or all(question.times(value) >= names for question, value in pairs)

    def _placeholder(self, one: _Argument) -> FromResult | None:
        for chain in self.chains:
            target = chain.calls[one.call].placeholders.get(one.path)
            if target is not None and self._explains(source := FromResult(*target), one):
                return source
        return None

    def _result(self, one: _Argument) -> FromResult | None:
        first = self.chains[0].calls
        if any(value is None or isinstance(value, bool) or value in ("", [], {}) for value in one.values):
            return None
        candidates = [
            FromResult(call, path)
            for call in range(one.call)
            if first[call].round < first[one.call].round
            for path in self._paths[call].get(identity(one.values[0]), ())
        ]
        fitting = (
            source
            for source in candidates
            if self._may_explain(one, source, len(candidates)) and self._explains(source, one)
        )
        return min(
            fitting,
            key=lambda source: (-source.call, len(source.path), not _has_similar_name(one, source)),
            default=None,
        )

    def _may_explain(self, one: _Argument, source: FromResult, count: int) -> bool:
        """Return whether a value is distinctive enough to come from this source."""
        if one.is_varied:
            return True
        value, has_similar_name = one.values[0], _has_similar_name(one, source)
        if isinstance(value, int | float):
            return count == 1 and (is_distinctive(value) or has_similar_name)
        if not is_distinctive(value):
            return count == 1 and has_similar_name
        return has_similar_name or "enum" not in one.schema

    def _explains(self, source: FromResult, one: _Argument) -> bool:
        """Return whether the source holds the value of every session, and can be referred to."""
        reference = reference_to(source, _ANY_NAME)
        if reference is None or source.call >= one.call:
            return False
        for chain, value in zip(self.chains, one.values, strict=True):
            call = chain.calls[source.call]
            try:
                result_value = look_up(reference, {_ANY_NAME: call.result})
            except ReferenceMissing:
                return False
            if not call.has_own_result or identity(result_value) != identity(value):
                return False
        return True


def _values_in(arguments: Mapping[str, object]) -> Iterator[Any]:
    """Yield every value at any depth of some arguments."""
    waiting = list(arguments.values())
    while waiting:
        value = waiting.pop()
        yield value
        waiting += members(value)


def _has_parts(values: Sequence[Any]) -> bool:
    """Return whether all are objects with the same keys, or lists of the same length."""
    if all(isinstance(value, dict) for value in values):
        return len({frozenset(value) for value in values}) == 1
    return all(isinstance(value, list) for value in values) and len({*map(len, values)}) == 1


def _has_similar_name(one: _Argument, source: FromResult) -> bool:
    key = next((part for part in reversed(source.path) if isinstance(part, str)), "")
    return is_alike(one.name, key)


def _schema_of(schema: object, part: str | int) -> dict[str, Any]:
    """Return the schema of a property or an item; an empty one if the schema does not state it directly."""
    if not isinstance(schema, dict):
        return {}
    around = schema.get("properties") if isinstance(part, str) else {part: schema.get("items")}
    inner = around.get(part) if isinstance(around, dict) else None
    return inner if isinstance(inner, dict) else {}
