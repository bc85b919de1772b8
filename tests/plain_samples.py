"""Texts, values and schemas for functions that take anything of their kind; see sampled.py."""

from datetime import UTC, datetime
from typing import Any

from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.contract import Contract
from antiphon_shared.workflows.params import Param
from redis import exceptions as of_redis

SCHEMAS: tuple[dict[str, Any], ...] = (
    {},
    {"type": "string", "enum": ["red", "blue"], "minLength": 2, "maxLength": 5},
    {"type": "integer", "minimum": 1, "maximum": 9},
    {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 7, "multipleOf": 0.5},
    {"type": "boolean", "default": True},
    {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "minItems": 1, "maxItems": 2},
    {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "format": "date", "writeOnly": True},
            "sizes": {"$ref": "#/$defs/sizes"},
            "number": {"type": "integer", "default": 3},
        },
        "$defs": {"sizes": {"type": "array", "items": {"type": "number"}, "minItems": 2}},
    },
    {
        "anyOf": [{"type": "string", "format": "password"}, {"type": "null"}],
        "description": "A name, such as `Oslo`.",
    },
    {"oneOf": [{"const": 3}, {"type": "object", "properties": {"id": {"type": "integer"}}}]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string", "format": "email"}, "b": {"$ref": "#/$defs/b"}}},
    {
        "allOf": [{"type": "object"}, {"required": ["a"]}],
        "examples": [{"a": 1}],
        "x-orchestration": {"mode": "parallel-safe"},
    },
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        3,
        -2.5,
        2**70,
        float("inf"),
        float("nan"),
        "",
        "red",
        "3",
        "2026-11-21",
        "yes",
        "a b c",
        "$a",
        "${calls[0].a}",
    ),
    *(
        [],
        ["red", 7],
        [[1]],
        [{"id": 1, "name": "mole"}, {"id": 2, "name": "pier"}],
        "x" * 300,
        "\ud800",
        b"bytes",
        (1, 2),
        {3: 4},
        {1, 2},
    ),
    *(
        {"a": {"b": [1, {"c": None}]}},
        {"name": "2026-11-21", "sizes": [1, 2]},
        {"passed": True, "errors": []},
        {"passed": False, "errors": ["a: no"]},
    ),
    *SCHEMAS[1:],
)
TEXTS = (
    *(
        "",
        " ",
        "find",
        "Name_1",
        "a.b[0].c",
        "$.a.b[1]",
        "#/$defs/a",
        "#/properties/name",
        "/a/b",
        "1",
        "2026-11-21",
        "s3cr3t-T0ken-9xQ2",
    ),
    *(
        "redis://user:word@host:6380/1",
        "host:26379",
        "A sentence. And another one, at length: " + "word " * 80,
        "üñï\n\tx",
        "calls[0].a",
        "%20%41",
    ),
    *(
        '{"a": 1}',
        "```json\n[1, 2]\n```",
        "<=",
        "==",
        "and",
        "len",
        "str",
        "int",
        "bool",
        "list",
        "any",
        "read",
        "write",
    ),
)
PLAIN: dict[str, Any] = {
    "str": TEXTS,
    "str | None": (None, *TEXTS[:6]),
    "Any": VALUES,
    "object": VALUES,
    "int": (0, 1, 2, 40, 600),
    "int | None": (None, 0, 7, 90),
    "float": (0.0, 0.2, 90.0, 4_000.0),
    "bool": (False, True),
    "bytes": (b"", b"{}", b'{"a": [1, 2], "b": "text"}', b"\xff", b"123-4"),
    "dict[str, Any]": SCHEMAS,
    "dict[str, Any] | None": (None, *SCHEMAS),
    "Mapping[str, Any]": (
        *SCHEMAS,
        {"a": 1, "b": "text", "c": [1, 2], "d": {"e": None}, "find": {"count": 2}},
    ),
    "list[Any]": ([], [1, 2], ["a", None, "b"], [{"a": 1}, {"b": 2.5}], [True, "x", 3]),
    "list[str]": ([], ["a"], ["a", "b", "a"], ["name", "Name", "other"]),
    "set[str]": (set(), {"string"}, {"integer", "null"}),
    "frozenset[str]": (frozenset(), frozenset(("find", "pay"))),
    "tuple[str, ...]": ((), ("a",), ("a", "b", "c")),
    "Sequence[str]": ((), ("a",), ("find", "fnid", "pay"), ("a", "a")),
    "Iterable[str]": ((), ("find",), ("find", "pay", "s3cr3t-T0ken-9xQ2")),
    "Iterable[Any]": ((), (1, "a"), ({"id": 1}, {"id": 2})),
    "tuple[str | int, ...]": ((), ("a",), ("a", 0, "b"), ("name",), ("properties", "name"), ("sizes", 1)),
    "datetime": (datetime(2026, 11, 21, 12, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)),
    "BaseException": (
        *(
            ConnectionError("Connection refused"),
            TimeoutError("too late"),
            OSError(2, "No such file"),
            ValueError("x" * 500),
            KeyError("a"),
        ),
        *(
            of_redis.ConnectionError("Error 111 connecting to host:6379."),
            of_redis.ReadOnlyError("x"),
            of_redis.ResponseError("OOM command not allowed"),
        ),
        *(
            of_redis.AuthenticationError("WRONGPASS"),
            of_redis.BusyLoadingError("LOADING"),
            of_redis.TimeoutError("t"),
            of_redis.NoPermissionError("NOPERM"),
        ),
        *(
            of_redis.ResponseError(text)
            for text in ("MISCONF x", "NOREPLICAS x", "CLUSTERDOWN x", "UNKILLABLE", "unknown command")
        ),
    ),
    "Contract": (
        Contract(effect="read", mode="parallel-safe", error_propagation="partial-success", next=("pay",)),
        Contract(effect="write", mode="sequential-only", error_propagation="fail-fast", idempotent=True),
        Contract(
            effect="write",
            mode="dependent",
            error_propagation="fail-fast",
            depends_on=({"tool": "find", "required_fields": ["id"]},),
        ),
    ),
    "Param": (
        Param(type="str", required=True),
        Param(type="int", default=3),
        Param(type="str", enum=("a", "b"), description="Which."),
    ),
    "Mapping[str, Param]": ({}, {"a": Param(type="int"), "b": Param(type="str", required=True)}),
    "ToolDefinition": (
        ToolDefinition(
            name="find_rooms", description="Find rooms by town.", input_schema=SCHEMAS[6], effect="read"
        ),
        ToolDefinition(name="pay", description="Pay a bill.", input_schema=SCHEMAS[9], effect="write"),
    ),
}
PLAIN["Exception"] = PLAIN["BaseException"]
PLAIN["Iterable[ToolDefinition]"] = (PLAIN["ToolDefinition"], ())
"""Samples by the annotation of a parameter."""
