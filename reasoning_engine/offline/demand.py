"""The required shape of an answer, as a request demands it: by the API's own means, by a tool, or in words. Pure."""

import re
from dataclasses import dataclass
from typing import Any

from antiphon_shared.values import JsonSchema

from reasoning_engine.offline.forms import json_or_text
from reasoning_engine.offline.schema import Tool
from reasoning_engine.shaped import FINAL_ANSWER, IN_WORDS, TAKES_ANSWER, VALIDATED

_BEFORE, _AFTER = (re.escape(part) for part in VALIDATED.split("{tools}"))
_VALIDATED = re.compile(f"{_BEFORE}(`[^`]+`(?: and `[^`]+`)*){_AFTER}\\s*$")
_NAME = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Demand:
    """The shape of an answer, and the tools that must have validated it."""

    schema: JsonSchema
    by_tool: bool = False
    """Whether the answer is the arguments of a tool for it."""
    validation_tools: tuple[str, ...] = ()


def read_demand(body: dict[str, Any], tools: tuple[Tool, ...], text: str) -> Demand | None:
    """Return a request's demand on the answer; None where any text will do."""
    words = text.rpartition("\n\n")[2]
    match = _VALIDATED.search(words)
    validating = tuple(_NAME.findall(match.group(1))) if match else ()
    takes = next((tool for tool in tools if takes_answer(tool)), None)
    if "output_config" in body:
        return Demand(body["output_config"]["format"]["schema"], validation_tools=validating)
    if takes is not None:
        return Demand(takes.schema, by_tool=True, validation_tools=validating)
    if words.startswith(IN_WORDS):
        return Demand(_in_words(_VALIDATED.sub("", words)), validation_tools=validating)
    return None


def takes_answer(tool: Tool) -> bool:
    """Return whether a tool is the one that takes the answer."""
    return tool.name == FINAL_ANSWER and tool.description == TAKES_ANSWER


def _in_words(words: str) -> dict[str, Any]:
    """Return the schema of a demand in words; if it cannot be read, a schema that allows everything."""
    schema = json_or_text(words.removeprefix(IN_WORDS))
    return schema if isinstance(schema, dict) else {}
