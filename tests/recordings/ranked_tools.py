"""More tools than a model is shown at once, of words and parameters drawn by lot, so that many fit nearly as well."""

from random import Random
from typing import Any

from antiphon import Tool, Toolset

_TOOLS = 90
_NOUNS = (
    *(
        "harbour",
        "lighthouse",
        "boat",
        "ferry",
        "mole",
        "lamp",
        "tide",
        "weather",
        "invoice",
        "customer",
        "letter",
    ),
    *("map", "route", "ticket", "price", "crew", "cargo", "storm", "signal", "archive", "tariff", "berth"),
)
_VERBS = (
    "find",
    "list",
    "count",
    "compare",
    "book",
    "send",
    "read",
    "check",
    "measure",
    "forecast",
    "cancel",
)
_RANDOM = Random(17)  # the same tools each time


def _words(count: int) -> str:
    return " ".join(_RANDOM.choice((*_NOUNS, *_VERBS)) for _ in range(count))


def _parameter(depth: int) -> dict[str, Any]:
    match _RANDOM.randrange(6):
        case 0:
            return {"type": "string", "enum": [_words(1), _words(2)]}
        case 1:
            return {"type": "string", "description": _words(4), "examples": [_words(1)]}
        case 2 if depth:
            return {"type": "object", "properties": _properties(2, depth - 1)}
        case 3 if depth:
            return {"type": "array", "items": {"type": "object", "properties": _properties(1, depth - 1)}}
        case 4:
            return {"type": "integer"}
        case _:
            return {"type": "string", "description": _words(3)}


def _properties(count: int, depth: int) -> dict[str, Any]:
    return {f"{_RANDOM.choice(_NOUNS)}_{n}": _parameter(depth) for n in range(count)}


def _tool(n: int) -> Tool:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": _properties(_RANDOM.choice((0, 1, 2, 3, 13)), 2),
    }
    if _RANDOM.random() < 0.3:
        schema["properties"]["note"] = {"type": "string"}
        schema["examples"] = [{"note": _words(2)}]
    about = (
        f"{_RANDOM.choice(_VERBS)} the {_RANDOM.choice(_NOUNS)} of a {_RANDOM.choice(_NOUNS)}; {_words(3)}."
    )
    return Tool(
        f"{_RANDOM.choice(_VERBS)}_{_RANDOM.choice(_NOUNS)}_{n}", about, schema, _answer, effect="read"
    )


def _answer(arguments: dict[str, Any], context: object) -> dict[str, Any]:
    return {"told": "It is so."}


ninety = Toolset(*map(_tool, range(_TOOLS)))
