"""Argument errors in words for a model, which quote the values given but never a secret. Pure."""

import math
from collections.abc import Iterable
from typing import Any

from antiphon_shared.values import ToolArguments
from jsonschema import ValidationError as SchemaFault
from pydantic import ValidationError
from pydantic_core import ErrorDetails, to_json

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.authoring.secret import (
    Path,
    Schema,
    holds_secret,
    is_secret_at,
    secret_paths,
    secrets_in,
)

Faults = dict[Path, str]
"""The error of each argument, by its path."""

FAULTS_MAX = 20
REDACTED = "[redacted]"
HIDDEN = "not valid (its value is secret and not shown)"

_TELLS_NO_VALUE = frozenset(
    f"{kind}_type" for kind in ("string", "int", "float", "bool", "list", "dict", "model", "bytes")
) | {"string_too_short", "string_too_long", "string_pattern_mismatch", "too_short", "too_long"}
"""Kinds of pydantic errors whose messages mention the rule alone."""

_OF_AUTHORS = ("value_error", "assertion_error")
"""Kinds raised by an author's own validator; they help even if they concern an object that holds a secret.
"""

_SECRET_CHARACTERS_MIN = 4
"""A shorter text would match within half of all words."""


def schema_errors(errors: Iterable[SchemaFault], schema: Schema, arguments: object) -> Faults:
    """Return the errors of a JSON Schema validator, by the path of the argument."""
    faults: Faults = {}
    secrets: tuple[str, ...] | None = None
    for fault in errors:
        if secrets is None:
            secrets = _secrets(schema, arguments)
        faults.update(_of_schema_fault(fault, schema, secrets))
        if len(faults) >= FAULTS_MAX:
            break
    return faults


def _of_schema_fault(fault: SchemaFault, schema: Schema, secrets: tuple[str, ...]) -> Faults:
    path: Path = tuple(fault.absolute_path)
    instance: Any = fault.instance
    rule: Any = fault.validator_value
    if fault.validator == "required" and isinstance(instance, dict):
        return {(*path, name): "required, but missing" for name in rule if name not in instance}
    if fault.validator == "additionalProperties" and rule is False:
        known = fault.schema.get("properties", {}) if isinstance(fault.schema, dict) else {}
        return {(*path, name): "no such field" for name in instance if name not in known}
    if holds_secret(schema, path):
        shown = f": {fault.validator} {rule}" if isinstance(rule, str | int | float) else ""
        return {path: f"{HIDDEN}{shown}"}
    return {path: readable(_redact(secrets, fault.message), 300)}


def pydantic_errors(error: ValidationError, schema: Schema, arguments: ToolArguments) -> Faults:
    """Return the errors of pydantic, by the path of the argument."""
    faults: Faults = {}
    secrets = _secrets(schema, arguments)
    for fault in error.errors(include_url=False, include_context=False):
        if fault["type"] == "json_invalid":
            # They were JSON when they arrived, so only their depth can be wrong.
            return {(): "nested too deeply"}
        path = _path(fault["loc"], arguments, is_missing=fault["type"] == "missing")
        message = _message(fault, path, schema, secrets)
        faults[path] = message if path not in faults else readable(f"{faults[path]}, or: {message}", 500)
        if len(faults) >= FAULTS_MAX:
            break
    return faults


def not_json(value: object) -> str:
    """Return why a value cannot be JSON, however deeply it is nested; empty if it can."""
    todo = [value]
    while todo:
        match todo.pop():
            case float() as number if not math.isfinite(number):
                return f"{number} is no JSON"
            case str() as text if not _can_be_encoded(text):
                return "a lone surrogate is no text"
            case dict() as mapping:
                todo += (*mapping.keys(), *mapping.values())
            case list() as items:
                todo += items
    return ""


def _path(place: Path, arguments: Any, is_missing: bool) -> Path:
    """Return an error's path without the names of union members, which the caller did not write."""
    path: list[str | int] = []
    for n, part in enumerate(place):
        is_there = (isinstance(arguments, dict) and part in arguments) or (
            isinstance(arguments, list) and isinstance(part, int) and part < len(arguments)
        )
        if is_there:
            arguments = arguments[part]
        if is_there or (is_missing and n == len(place) - 1):
            path.append(part)
    return tuple(path)


def _message(fault: ErrorDetails, path: Path, schema: Schema, secrets: tuple[str, ...]) -> str:
    match fault["type"]:
        case "missing":
            return "required, but missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return "no such field"
    if holds_secret(schema, path):
        is_plain = fault["type"] in _TELLS_NO_VALUE
        is_of_more = fault["type"] in _OF_AUTHORS and not is_secret_at(schema, path)
        if is_plain or (is_of_more and all(len(secret) >= _SECRET_CHARACTERS_MIN for secret in secrets)):
            return readable(_redact(secrets, f"{fault['msg']} (its value is secret and not shown)"), 300)
        return HIDDEN
    try:
        given = to_json(fault["input"]).decode()
    except ValueError:
        given = type(fault["input"]).__name__
    return readable(f"{_redact(secrets, fault['msg'])}, got {readable(_redact(secrets, given), 80)}", 300)


def _secrets(schema: Schema, arguments: object) -> tuple[str, ...]:
    """Return the secrets among the arguments; called once for all errors, as it visits every argument."""
    return secrets_in(schema, arguments) if secret_paths(schema) else ()


def _redact(secrets: tuple[str, ...], message: str) -> str:
    """Return the message without secrets: an author's validator may mention another argument than its own."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SECRET_CHARACTERS_MIN:
            message = message.replace(secret, REDACTED).replace(to_json(secret).decode()[1:-1], REDACTED)
    return message


def _can_be_encoded(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
