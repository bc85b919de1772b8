"""The identity of a write: the tool, and a digest of its final arguments. Pure.

Two calls are identical when their identities are equal. The idempotency key of a write is

    TENANT/SESSION/TOOL/DIGEST/ORDINAL

The digest is made of the canonical JSON of the arguments (see `fingerprint`): placeholders are replaced, defaults
of the tool's schema are applied, and keys of objects are ordered. Nothing else is normalised: 1, 1.0, true and "1"
are four values; texts in different Unicode normal forms differ; the order of a list counts; and a null argument
differs from an absent one. A secret is only in the digest. The ordinal counts from 1 and grows with each deliberate
repetition. A group of calls has the name of the batch variant and the digest of all its arguments. An alternative
runs under the key of the tool that it replaces.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b

from antiphon_shared.values import JsonSchema

_DEPTH_MAX = 32


def fingerprint(*parts: object) -> str:
    """Return the digest of JSON values in their order: 32 hexadecimal digits.

    Raises ValueError for a value that is not JSON, as it could have two digests.
    """
    try:
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"values that are not JSON have no digest: {error}") from None
    return blake2b(text.encode(), digest_size=16).hexdigest()


def identity_of(tool: str, schema: JsonSchema, arguments: Mapping[str, object]) -> str:
    """Return `TOOL/DIGEST` of valid arguments. Raises ValueError for values that are not JSON."""
    return f"{tool}/{fingerprint(with_defaults(schema, arguments))}"


def name_of(tenant: str, session_id: str, identity: str) -> str:
    """Return an idempotency key without its ordinal."""
    return f"{tenant}/{session_id}/{identity}"


def with_defaults(schema: JsonSchema, value: object) -> object:
    """Return JSON with the defaults of its schema for absent values."""
    return _with_defaults(schema, value, schema, _DEPTH_MAX)


def _with_defaults(schema: object, value: object, root: JsonSchema, depth: int) -> object:
    schema = _resolved(schema, root)
    if not isinstance(schema, Mapping) or not depth:
        return value
    if isinstance(value, Mapping):
        properties = schema.get("properties")
        schemas: Mapping[str, JsonSchema] = properties if isinstance(properties, Mapping) else {}
        missing = {name: part["default"] for name, part in schemas.items() if _has_default(part)}
        fields = {**missing, **value}
        return {
            name: _with_defaults(schemas.get(name), part, root, depth - 1) for name, part in fields.items()
        }
    if isinstance(value, list):
        return [_with_defaults(schema.get("items"), item, root, depth - 1) for item in value]
    return value


def _has_default(schema: object) -> bool:
    return isinstance(schema, Mapping) and "default" in schema


def _resolved(schema: object, root: JsonSchema) -> object:
    """Return a schema, the target of its reference, or the only branch of its `anyOf` besides null."""
    for _ in range(_DEPTH_MAX):
        if not isinstance(schema, Mapping):
            return schema
        if isinstance(reference := schema.get("$ref"), str) and reference.startswith("#/$defs/"):
            schema = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
            continue
        branches = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
        if len(branches) != 1:
            return schema
        schema = branches[0]
    return schema
