"""The identity of a write: the tool, and a digest of its arguments as they are executed. Pure.

Two calls are identical when their identities are equal. The idempotency key of a write is

    TENANT/SESSION/TOOL/DIGEST/ORDINAL

The digest is that of the canonical JSON of the arguments (see `fingerprint`): placeholders are replaced,
defaults of the tool's schema are applied, keys of objects are ordered. Nothing else is normalised: 1, 1.0,
true and "1" are four values; texts in different Unicode normal forms are different texts; the order of a list
counts; and an argument that is null differs from an argument that is absent. A secret is in the digest only.
The ordinal counts from 1 and grows with each deliberate repetition. Calls that run as one are named by the
batch variant and all of their arguments. An alternative that runs in the place of another tool runs under the
key of the tool that was asked for.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b

from antiphon_shared.values import JsonSchema

_DEPTH_MAX = 32


def fingerprint(*parts: object) -> str:
    """Return the digest of JSON values in their order, 32 hexadecimal digits. 1, 1.0, true and "1" are four values.

    Raises ValueError for a value that is not JSON: it could be written in two ways, and have two digests.
    """
    try:
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no digest can be made of what is not JSON: {error}") from None
    return blake2b(text.encode(), digest_size=16).hexdigest()


def identity_of(tool: str, schema: JsonSchema, arguments: Mapping[str, object]) -> str:
    """Return `TOOL/DIGEST` of valid arguments. Raises ValueError for values that are not JSON."""
    return f"{tool}/{fingerprint(with_defaults(schema, arguments))}"


def name_of(tenant: str, session_id: str, identity: str) -> str:
    """Return an idempotency key without its ordinal."""
    return f"{tenant}/{session_id}/{identity}"


def with_defaults(schema: JsonSchema, value: object) -> object:
    """Return JSON with the defaults of its schema for absent values."""
    return _filled(schema, value, schema, _DEPTH_MAX)


def _filled(schema: object, value: object, whole: JsonSchema, depth: int) -> object:
    schema = _resolved(schema, whole)
    if not isinstance(schema, Mapping) or not depth:
        return value
    if isinstance(value, Mapping):
        properties = schema.get("properties")
        known: Mapping[str, JsonSchema] = properties if isinstance(properties, Mapping) else {}
        missing = {name: part["default"] for name, part in known.items() if _has_default(part)}
        given = {**missing, **value}
        return {name: _filled(known.get(name), part, whole, depth - 1) for name, part in given.items()}
    if isinstance(value, list):
        return [_filled(schema.get("items"), item, whole, depth - 1) for item in value]
    return value


def _has_default(schema: object) -> bool:
    return isinstance(schema, Mapping) and "default" in schema


def _resolved(schema: object, whole: JsonSchema) -> object:
    """Return the schema behind a reference, and the only branch of an `anyOf` besides null."""
    for _ in range(_DEPTH_MAX):
        if not isinstance(schema, Mapping):
            return schema
        if isinstance(reference := schema.get("$ref"), str) and reference.startswith("#/$defs/"):
            schema = whole.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
            continue
        branches = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
        if len(branches) != 1:
            return schema
        schema = branches[0]
    return schema
