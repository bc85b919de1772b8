"""Argument errors as text for a model, which quotes the wrong values but never a secret. Pure."""

import math
from collections.abc import Iterable
from typing import Any

from antiphon_shared.redaction.redactor import REDACTED
from antiphon_shared.values import JsonSchema, ToolArguments
from jsonschema import ValidationError as SchemaError
from pydantic import ValidationError
from pydantic_core import ErrorDetails, to_json

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.authoring.secret import (
    Path,
    holds_secret,
    is_secret_at,
    secret_paths,
    secrets_in,
)

ArgumentErrors = dict[Path, str]
"""The error of each argument, by its path."""

ERRORS_MAX = 20
UNKNOWN_FIELD = "no such field"
"""The error of an argument that the schema does not declare."""
HIDDEN = "not valid (its value is secret and not shown)"

_KINDS_WITHOUT_VALUE = frozenset(
    f"{kind}_type" for kind in ("string", "int", "float", "bool", "list", "dict", "model", "bytes")
) | {"string_too_short", "string_too_long", "string_pattern_mismatch", "too_short", "too_long"}
"""Kinds of pydantic errors whose messages contain the rule but no value."""

_AUTHOR_KINDS = ("value_error", "assertion_error")
"""Kinds of errors that an author's validator raises. Their messages help even where the object holds a secret."""

_SECRET_CHARACTERS_MIN = 4
"""A shorter text would match within half of all words."""


def schema_errors(errors: Iterable[SchemaError], schema: JsonSchema, arguments: object) -> ArgumentErrors:
    """Return the errors of a JSON Schema validator by the path of the argument, at most `ERRORS_MAX` of them."""
    found: ArgumentErrors = {}
    secrets: tuple[str, ...] | None = None
    for error in errors:
        if secrets is None:
            secrets = _secrets(schema, arguments)
        found.update(_schema_error(error, schema, secrets))
        if len(found) >= ERRORS_MAX:
            break
    return found


def _schema_error(error: SchemaError, schema: JsonSchema, secrets: tuple[str, ...]) -> ArgumentErrors:
    path: Path = tuple(error.absolute_path)
    instance: Any = error.instance
    rule: Any = error.validator_value
    if error.validator == "required" and isinstance(instance, dict):
        return {(*path, name): "required, but missing" for name in rule if name not in instance}
    if error.validator == "additionalProperties" and rule is False:
        declared = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        return {(*path, name): UNKNOWN_FIELD for name in instance if name not in declared}
    if holds_secret(schema, path):
        rule_text = f": {error.validator} {rule}" if isinstance(rule, str | int | float) else ""
        return {path: f"{HIDDEN}{rule_text}"}
    return {path: readable(_redact(secrets, error.message), 300)}


def pydantic_errors(error: ValidationError, schema: JsonSchema, arguments: ToolArguments) -> ArgumentErrors:
    """Return pydantic's errors by the path of the argument, at most `ERRORS_MAX` of them."""
    found: ArgumentErrors = {}
    secrets = _secrets(schema, arguments)
    for details in error.errors(include_url=False, include_context=False):
        if details["type"] == "json_invalid":
            # The arguments arrived as JSON, so only their depth can be wrong.
            return {(): "nested too deeply"}
        path = _path(details["loc"], arguments, is_missing=details["type"] == "missing")
        message = _message(details, path, schema, secrets)
        found[path] = message if path not in found else readable(f"{found[path]}, or: {message}", 500)
        if len(found) >= ERRORS_MAX:
            break
    return found


def not_json(value: object) -> str:
    """Return why a value cannot be JSON, however deeply it is nested; empty if it can."""
    todo = [value]
    while todo:
        match todo.pop():
            case float() as number if not math.isfinite(number):
                return f"{number} is not valid JSON"
            case str() as text if not _can_be_encoded(text):
                return "a lone surrogate is not valid text"
            case dict() as mapping:
                todo += (*mapping.keys(), *mapping.values())
            case list() as items:
                todo += items
    return ""


def path_text(path: Path) -> str:
    """Return a path as text: `filters[0].name`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _path(location: Path, arguments: Any, is_missing: bool) -> Path:
    """Return the path of pydantic's error location, without names of union members, which no caller writes."""
    path: list[str | int] = []
    for n, part in enumerate(location):
        is_there = (isinstance(arguments, dict) and part in arguments) or (
            isinstance(arguments, list) and isinstance(part, int) and part < len(arguments)
        )
        if is_there:
            arguments = arguments[part]
        if is_there or (is_missing and n == len(location) - 1):
            path.append(part)
    return tuple(path)


def _message(details: ErrorDetails, path: Path, schema: JsonSchema, secrets: tuple[str, ...]) -> str:
    match details["type"]:
        case "missing":
            return "required, but missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return UNKNOWN_FIELD
    if holds_secret(schema, path):
        is_without_value = details["type"] in _KINDS_WITHOUT_VALUE
        is_author_error = details["type"] in _AUTHOR_KINDS and not is_secret_at(schema, path)
        if is_without_value or (
            is_author_error and all(len(secret) >= _SECRET_CHARACTERS_MIN for secret in secrets)
        ):
            return readable(_redact(secrets, f"{details['msg']} (its value is secret and not shown)"), 300)
        return HIDDEN
    try:
        value = to_json(details["input"]).decode()
    except ValueError:
        value = type(details["input"]).__name__
    return readable(f"{_redact(secrets, details['msg'])}, got {readable(_redact(secrets, value), 80)}", 300)


def _secrets(schema: JsonSchema, arguments: object) -> tuple[str, ...]:
    """Return the secrets among the arguments; called once for all errors, as it visits every argument."""
    return secrets_in(schema, arguments) if secret_paths(schema) else ()


def _redact(secrets: tuple[str, ...], message: str) -> str:
    """Return the message without secrets: an author's validator may mention any argument."""
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
