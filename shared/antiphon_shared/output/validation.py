"""The verdict of a validating tool on a value, and the digest by which the value is recognised. Pure."""

import json
from hashlib import blake2b
from typing import Any

from pydantic import Field

from antiphon_shared.values import Value

ERRORS_MAX = 10
ERROR_CHARACTERS_MAX = 300


class Validation(Value):
    """One run of a validating tool."""

    of: str = Field(description="Digest of what was validated.")
    has_passed: bool
    errors: tuple[str, ...] = Field(default=(), description="The errors, a sentence each.")


def content_digest(value: object) -> str:
    """Return a digest that two JSON values share exactly if they are equal.

    Objects are equal in any order of their properties, texts by code point, numbers by value; true does not
    equal 1.
    """
    text = json.dumps(with_one_form(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def with_one_form(value: object) -> Any:
    """Return a JSON value with one form for each number: 1.0 is 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: with_one_form(part) for name, part in value.items()}
    return [with_one_form(part) for part in value] if isinstance(value, list | tuple) else value
