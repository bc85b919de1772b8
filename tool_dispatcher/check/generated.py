"""Arguments that a schema allows, drawn by hypothesis: the same seed gives the same arguments.

Objects, lists, choices and references are assembled here, because hypothesis-jsonschema uses parts of hypothesis
for them that no longer exist. It draws the rest: texts and numbers with their rules.
"""

import contextlib
import warnings
from typing import Any

from antiphon_shared.output.referred import referred
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.values import JsonSchema, ToolArguments
from jsonschema import SchemaError

from tool_dispatcher.check.judge import Judge

_DEPTH_MAX = 10
_ITEMS_MAX = 5
_UNDRAWABLE = (SchemaError, AttributeError, ValueError, TypeError, RecursionError)
"""Errors of hypothesis-jsonschema for a schema that it cannot read; arguments drawn before remain."""


def draw(schema: JsonSchema, examples_max: int, seed: int) -> list[ToolArguments]:
    """Return up to `examples_max` different arguments that the schema allows.

    Raises ConfigurationError if the libraries are not installed.
    """
    if examples_max < 1:
        return []
    hypothesis, from_schema = _libraries()
    drawn: list[ToolArguments] = []
    undrawable = (hypothesis.errors.HypothesisException, *_UNDRAWABLE)
    with warnings.catch_warnings(), contextlib.suppress(*undrawable):
        warnings.simplefilter("ignore")  # warnings about patterns of another regex engine
        strategy = _Strategies(schema, hypothesis.strategies, from_schema).arguments()
        _collect(hypothesis, strategy, drawn, examples_max, seed)
    judge = Judge(schema)
    different = {repr(arguments): arguments for arguments in drawn}
    return [arguments for arguments in different.values() if judge.of(arguments).word == "valid"]


def _collect(
    hypothesis: Any, strategy: Any, drawn: list[ToolArguments], examples_max: int, seed: int
) -> None:
    def keep(arguments: ToolArguments) -> None:
        drawn.append(arguments)

    settings = hypothesis.settings(
        max_examples=examples_max,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
        verbosity=hypothesis.Verbosity.quiet,
    )
    hypothesis.seed(seed)(settings(hypothesis.given(strategy)(keep)))()


class _Strategies:
    """The strategies for the parts of one schema."""

    def __init__(self, root: JsonSchema, strategies: Any, from_schema: Any) -> None:
        self._root, self._strategies, self._from_schema = root, strategies, from_schema
        self._built: dict[tuple[int, int], tuple[Any, Any]] = {}
        """Schemas and their strategies, by the id of the schema and the depth; a stored schema's id is not reused."""

    def arguments(self) -> Any:
        return self._strategy(self._root, 0)

    def _strategy(self, schema: Any, depth: int) -> Any:
        """Return the strategy for a schema; it is built once per depth, so that recursive schemas end."""
        if (id(schema), depth) not in self._built:
            self._built[id(schema), depth] = (schema, self._build(schema, depth))
        return self._built[id(schema), depth][1]

    def _build(self, schema: Any, depth: int) -> Any:
        if schema is True or schema == {}:
            return self._anything()
        if not isinstance(schema, dict) or depth > _DEPTH_MAX:
            return self._strategies.nothing()
        if isinstance(target := schema.get("$ref"), str):
            return self._strategy(referred(target, self._root), depth + 1)
        if choices := schema.get("anyOf") or schema.get("oneOf"):
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            return self._strategies.one_of(
                [self._strategy({**rest, **choice}, depth + 1) for choice in choices]
            )
        if schema.get("type") == "object" or "properties" in schema:
            return self._object(schema, depth)
        if schema.get("type") == "array":
            return self._array(schema, depth)
        return self._from_schema(
            {key: value for key, value in schema.items() if key not in ("default", "examples")}
        )

    def _object(self, schema: JsonSchema, depth: int) -> Any:
        parts = {name: self._strategy(part, depth + 1) for name, part in schema.get("properties", {}).items()}
        required = {name: parts.get(name, self._anything()) for name in schema.get("required", ())}
        optional = {name: part for name, part in parts.items() if name not in required and not part.is_empty}
        declared = self._strategies.fixed_dictionaries(required, optional=optional)
        additional = schema.get("additionalProperties", True)
        if additional is False or (additional is True and parts):
            return declared
        least, most = schema.get("minProperties", 0), schema.get("maxProperties", _ITEMS_MAX)
        names = self._strategies.text(min_size=1, max_size=20)
        values = self._strategy(additional, depth + 1)
        extra = self._strategies.dictionaries(names, values, min_size=least, max_size=max(least, most))
        return self._strategies.builds(lambda some, more: {**more, **some}, declared, extra)

    def _array(self, schema: JsonSchema, depth: int) -> Any:
        least = schema.get("minItems", 0)
        most = min(schema.get("maxItems", least + _ITEMS_MAX), least + _ITEMS_MAX)
        if first := schema.get("prefixItems"):
            return self._strategies.tuples(*(self._strategy(part, depth + 1) for part in first)).map(list)
        items = self._strategy(schema.get("items", True), depth + 1)
        if items.is_empty:
            return self._strategies.nothing() if least else self._strategies.just([])
        unique = repr if schema.get("uniqueItems") else None
        return self._strategies.lists(items, min_size=least, max_size=most, unique_by=unique)

    def _anything(self) -> Any:
        make = self._strategies
        integers = make.integers(min_value=-(2**63), max_value=2**63 - 1)
        names, simple = (
            make.text(max_size=20),
            make.none() | make.booleans() | integers | make.text(max_size=50),
        )
        return make.recursive(
            simple,
            lambda some: make.lists(some, max_size=4) | make.dictionaries(names, some, max_size=4),
            max_leaves=8,
        )


def _libraries() -> tuple[Any, Any]:
    """Return hypothesis, and the `from_schema` of hypothesis-jsonschema; both are imported only when needed."""
    try:
        import hypothesis
        import hypothesis_jsonschema
    except ImportError as missing:
        raise ConfigurationError(
            f"Checking tools needs {missing.name}, which is not installed.",
            hint="Install it: pip install 'antiphon[check]'",
        ) from None
    return hypothesis, hypothesis_jsonschema.from_schema
