"""The hashes of schemas and prompts, by which recordings are compared. Pure."""

import json
from functools import cache
from hashlib import blake2b

import orjson
from antiphon_shared.events.asyncapi import document

from reasoning_engine.prompt import SYSTEM
from reasoning_engine.summarize import INSTRUCTIONS


def content_hash(content: bytes) -> str:
    """Return the hash of a content, as on the bus."""
    return blake2b(content, digest_size=16).hexdigest()


def sorted_json(value: object) -> bytes:
    """Return a value as JSON with sorted keys, so that equal values give the same JSON."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str)
    except TypeError:  # integers beyond 64 bits
        return json.dumps(value, sort_keys=True, default=str, separators=(",", ":")).encode()


@cache
def schemas_hash() -> str:
    """Return the hash of the schemas of all events."""
    return content_hash(sorted_json(document()))


@cache
def prompt_hashes() -> dict[str, str]:
    """Return the hash of each prompt's fixed part."""
    return {"reason": content_hash(SYSTEM.encode()), "summarize": content_hash(INSTRUCTIONS.encode())}
