"""Hashes that tell whether two recordings were made by the same schemas and prompts. Pure."""

import json
from functools import cache
from hashlib import blake2b
from typing import Any

import orjson
from antiphon_shared.events.asyncapi import document

from reasoning_engine.prompt import SYSTEM
from reasoning_engine.summarize import INSTRUCTIONS


def content_hash(content: bytes) -> str:
    """The name of a content, as the bus gives it."""
    return blake2b(content, digest_size=16).hexdigest()


def sorted_json(value: Any) -> bytes:
    """Return the same JSON for values that say the same, in whatever order their keys stand."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str)
    except TypeError:  # integers beyond 64 bits
        return json.dumps(value, sort_keys=True, default=str, separators=(",", ":")).encode()


@cache
def schemas_hash() -> str:
    """Of the schemas of all events."""
    return content_hash(sorted_json(document()))


@cache
def prompt_hashes() -> dict[str, str]:
    """Of each prompt's fixed part."""
    return {"reason": content_hash(SYSTEM.encode()), "summarize": content_hash(INSTRUCTIONS.encode())}
