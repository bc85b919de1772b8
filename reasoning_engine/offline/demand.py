"""The required shape of an answer, as a request demands it: by the API's own means, by a tool, or in words. Pure."""

import re
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from reasoning_engine.offline.schema import Tool
from reasoning_engine.shaped import FINAL_ANSWER, IN_WORDS, TAKES_ANSWER, VALIDATED

_DEPTH_MAX = 32
_BEFORE, _AFTER = (re.escape(part) for part in VALIDATED.split("{tools}"))
_VALIDATED = re.compile(f"{_BEFORE}(`[^`]+`(?: and `[^`]+`)*){_AFTER}\\s*$")
_NAME = re.compile(r"`([^`]+)`")
_NOTED = re.compile(r"(?:^|\n)\{([^\n]+)\}$")
_RULE = re.compile(
    r"(?:^|, )(pattern|format|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|minLength|maxLength"
    r"|minItems|maxItems|uniqueItems): "
)


@dataclass(frozen=True, slots=True)
class Demand:
    """The shape of an answer, and the tools that must have validated it."""

    schema: dict[str, Any]
    by_tool: bool = False
    """Whether the answer is the arguments of a tool for it."""
    validation_tools: tuple[str, ...] = field(default=())


def read_demand(body: dict[str, Any], tools: tuple[Tool, ...], text: str) -> Demand | None:
    """Return a request's demand on the answer; None where any text will do."""
    words = text.rpartition("\n\n")[2]
    named = _VALIDATED.search(words)
    validating = tuple(_NAME.findall(named.group(1))) if named else ()
    if native := _native(body):
        return Demand(with_rules(native), validation_tools=validating)
    for tool in tools:
        if takes_answer(tool):
            return Demand(tool.schema, by_tool=True, validation_tools=validating)
    if words.startswith(IN_WORDS):
        schema = _read(words.removeprefix(IN_WORDS)[: named.start() - len(IN_WORDS) if named else None])
        if schema is not None:
            return Demand(schema, validation_tools=validating)
    return None


def takes_answer(tool: Tool) -> bool:
    """Return whether a tool is the one that takes the answer."""
    return tool.name == FINAL_ANSWER and tool.description == TAKES_ANSWER


def with_rules(schema: Any, depth: int = 0) -> Any:
    """Return a schema with the rules that the API does not take, read from its descriptions."""
    if depth > _DEPTH_MAX:
        return schema
    if isinstance(schema, list):
        return [with_rules(part, depth + 1) for part in schema]
    if not isinstance(schema, dict):
        return schema
    description = schema.get("description")
    noted = _NOTED.search(description) if isinstance(description, str) else None
    rules = _rules(noted.group(1)) if noted else {}
    return {**rules, **{name: with_rules(part, depth + 1) for name, part in schema.items()}}


def _rules(text: str) -> dict[str, Any]:
    """Return the rules of a text such as `maxItems: 20, minItems: 3`."""
    found = list(_RULE.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    rules: dict[str, Any] = {}
    for match, end in zip(found, ends, strict=True):
        name, value = match.group(1), text[match.end() : end]
        if name in ("pattern", "format"):
            rules[name] = value
        elif name == "uniqueItems":
            rules[name] = value == "True"
        else:
            try:
                rules[name] = from_json(value)
            except ValueError:
                continue
    return rules


def _native(body: dict[str, Any]) -> dict[str, Any] | None:
    config = body.get("output_config")
    form = config.get("format") if isinstance(config, dict) else None
    schema = form.get("schema") if isinstance(form, dict) else None
    return schema if isinstance(schema, dict) else None


def _read(text: str) -> dict[str, Any] | None:
    try:
        schema = from_json(text)
    except ValueError:
        return None
    return schema if isinstance(schema, dict) else None
