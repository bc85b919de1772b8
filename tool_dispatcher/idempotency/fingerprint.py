"""Digests of JSON values: the same value gives the same digest, however its keys are ordered. Pure."""

import json
from hashlib import blake2b
from typing import Any


def fingerprint(*parts: Any) -> str:
    """Return the digest of JSON values in their order, 32 hexadecimal digits. 1, 1.0, true and "1" are four values.

    Raises ValueError for a value that is not JSON: with two ways to write it, it would have two digests.
    """
    try:
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no digest can be made of what is not JSON: {error}") from None
    return blake2b(text.encode(), digest_size=16).hexdigest()
