"""Hashes that tell whether two recordings were made by the same schemas and prompts. Pure."""

from functools import cache
from hashlib import blake2b

import orjson
from antiphon_shared.events.asyncapi import document

from reasoning_engine.prompt import SYSTEM
from reasoning_engine.summarize import INSTRUCTIONS


def content_hash(content: bytes) -> str:
    """The name of a content, as the bus gives it."""
    return blake2b(content, digest_size=16).hexdigest()


@cache
def schemas_hash() -> str:
    """Of the schemas of all events."""
    return content_hash(orjson.dumps(document(), option=orjson.OPT_SORT_KEYS))


@cache
def prompt_hashes() -> dict[str, str]:
    """Of each prompt's fixed part."""
    return {"reason": content_hash(SYSTEM.encode()), "summarize": content_hash(INSTRUCTIONS.encode())}
