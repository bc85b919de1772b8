"""Grants for tests that only read them: of the right form, and signed by nobody."""

from base64 import urlsafe_b64encode
from typing import Any

import orjson

FAR_FUTURE_S = 4_000_000_000


def a_payload(scopes: Any, **claims: Any) -> dict[str, Any]:
    return {"aud": "antiphon", "exp": FAR_FUTURE_S, "scopes": scopes, **claims}


def a_grant(scopes: Any = ("read",), **claims: Any) -> str:
    """Return a token with these claims; a claim may be overwritten with any value."""
    payload = urlsafe_b64encode(orjson.dumps(a_payload(scopes, **claims))).rstrip(b"=").decode()
    return f"eyJhbGciOiJFZERTQSJ9.{payload}.c2lnbmVkIGJ5IG5vYm9keQ"
