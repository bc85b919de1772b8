"""Arguments that a schema allows, drawn by hypothesis: the same seed gives the same arguments.

Objects, lists, choices and references are assembled here; hypothesis-jsonschema draws the rest, texts and
numbers with their rules. Its own support for objects uses parts of hypothesis that no longer exist.
"""

import contextlib
import warnings
from typing import Any

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.values import ToolArguments
from jsonschema import SchemaError

from tool_dispatcher.check.judge import Judge
from tool_dispatcher.check.schema_places import Schema, pointed_at

_DEPTH_MAX = 10
_ITEMS_MAX = 5
_UNDRAWABLE = (SchemaError, AttributeError, ValueError, TypeError, RecursionError)
"""Errors of hypothesis-jsonschema for a schema that it cannot read; arguments drawn before are kept."""


def draw(schema: Schema, examples_max: int, seed: int) -> list[ToolArguments]:
    """Return up to `examples_max` different arguments that are valid by the schema; fewer if no more are found.

    Raises ConfigurationError when the libraries are not installed.
    """
    if examples_max < 1:
        return []
    hypothesis, from_schema = _libraries()
    kept: list[ToolArguments] = []
    undrawable = (hypothesis.errors.HypothesisException, *_UNDRAWABLE)
    with warnings.catch_warnings(), contextlib.suppress(*undrawable):
        warnings.simplefilter("ignore")  # warnings about patterns of another regex engine
        strategy = _Strategies(schema, hypothesis.strategies, from_schema).arguments()
        _collect(hypothesis, strategy, kept, examples_max, seed)
    judge = Judge(schema)
    different = {repr(arguments): arguments for arguments in kept}
    return [arguments for arguments in different.values() if judge.of(arguments).word == "valid"]


def _collect(hypothesis: Any, strategy: Any, kept: list[ToolArguments], examples_max: int, seed: int) -> None:
    def keep(arguments: ToolArguments) -> None:
        kept.append(arguments)

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

    def __init__(self, root: Schema, strategies: Any, from_schema: Any) -> None:
        self._root, self._make, self._leaf = root, strategies, from_schema
        self._known: dict[tuple[int, int], tuple[Any, Any]] = {}
        """Strategies by depth and the id of their schema, which is stored with them so that the id stays its own."""

    def arguments(self) -> Any:
        return self._strategy(self._root, 0)

    def _strategy(self, schema: Any, depth: int) -> Any:
        """Return the strategy for a schema, made once per depth: a recursive schema would otherwise never end."""
        if (id(schema), depth) not in self._known:
            self._known[id(schema), depth] = (schema, self._build(schema, depth))
        return self._known[id(schema), depth][1]

    def _build(self, schema: Any, depth: int) -> Any:
        if schema is True or schema == {}:
            return self._anything()
        if not isinstance(schema, dict) or depth > _DEPTH_MAX:
            return self._make.nothing()
        if isinstance(target := schema.get("$ref"), str):
            return self._strategy(pointed_at(target, self._root), depth + 1)
        if choices := schema.get("anyOf") or schema.get("oneOf"):
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            return self._make.one_of([self._strategy({**rest, **choice}, depth + 1) for choice in choices])
        if schema.get("type") == "object" or "properties" in schema:
            return self._object(schema, depth)
        if schema.get("type") == "array":
            return self._array(schema, depth)
        return self._leaf({key: value for key, value in schema.items() if key not in ("default", "examples")})

    def _object(self, schema: Schema, depth: int) -> Any:
        parts = {name: self._strategy(part, depth + 1) for name, part in schema.get("properties", {}).items()}
        given = {name: parts.get(name, self._anything()) for name in schema.get("required", ())}
        others = {name: part for name, part in parts.items() if name not in given and not part.is_empty}
        known = self._make.fixed_dictionaries(given, optional=others)
        further = schema.get("additionalProperties", True)
        if further is False or (further is True and parts):
            return known
        least, most = schema.get("minProperties", 0), schema.get("maxProperties", _ITEMS_MAX)
        names = self._make.text(min_size=1, max_size=20)
        values = self._strategy(further, depth + 1)
        extra = self._make.dictionaries(names, values, min_size=least, max_size=max(least, most))
        return self._make.builds(lambda some, more: {**more, **some}, known, extra)

    def _array(self, schema: Schema, depth: int) -> Any:
        least = schema.get("minItems", 0)
        most = min(schema.get("maxItems", least + _ITEMS_MAX), least + _ITEMS_MAX)
        if first := schema.get("prefixItems"):
            return self._make.tuples(*(self._strategy(part, depth + 1) for part in first)).map(list)
        items = self._strategy(schema.get("items", True), depth + 1)
        if items.is_empty:
            return self._make.nothing() if least else self._make.just([])
        unique = repr if schema.get("uniqueItems") else None
        return self._make.lists(items, min_size=least, max_size=most, unique_by=unique)

    def _anything(self) -> Any:
        make = self._make
        whole = make.integers(min_value=-(2**63), max_value=2**63 - 1)
        names, simple = make.text(max_size=20), make.none() | make.booleans() | whole | make.text(max_size=50)
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
