"""Grants without their signature, which give no permission but remain readable for the coordinator. Pure."""

import binascii
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import orjson
from antiphon_shared.redaction.redactor import REDACTED

SIGNATURE = "redacted"
"""The placeholder for a signature."""
_HEADER = {"alg": "none", "typ": "JWT"}
_CLAIMS = ("aud", "exp", "iat", "tenant", "scopes", "session")
"""The claims that shared/antiphon_shared/tools/grants.py reads, in that order; others are dropped."""


def unsigned(grant: str, redact: Callable[[str], str]) -> str:
    """Return the grant with the claims that are read, and no signature; `redact` redacts a claim.

    An unreadable grant stays unreadable, for the same reason.
    """
    parts = grant.split(".")
    if not grant or len(parts) != 3 or not all(map(_is_base64_url, parts)):
        return REDACTED if grant else grant
    try:
        claims = orjson.loads(b64decode(_padded(parts[1]), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error):
        return f"{SIGNATURE}.{SIGNATURE}.{SIGNATURE}"
    message = (
        {name: _redacted_claim(claims[name], redact) for name in _CLAIMS if name in claims}
        if isinstance(claims, dict)
        else []
    )
    return f"{_encoded(_HEADER)}.{_encoded(message)}.{SIGNATURE}"


def _redacted_claim(claim: object, redact: Callable[[str], str]) -> Any:
    if isinstance(claim, str):
        return redact(claim)
    if isinstance(claim, list):
        return [
            redact(one) if isinstance(one, str) else one for one in claim if not isinstance(one, dict | list)
        ]
    return None if isinstance(claim, dict) else claim


def _encoded(part: object) -> str:
    return urlsafe_b64encode(orjson.dumps(part)).decode().rstrip("=")


def _padded(part: str) -> str:
    return part + "=" * (-len(part) % 4)


def _is_base64_url(part: str) -> bool:
    return bool(part) and part.isascii() and part.replace("-", "").replace("_", "").isalnum()
