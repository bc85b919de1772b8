"""Grants: the permissions of a session, as a signed JSON Web Token (RFC 7519). Parsing without verification. Pure.

A coordinator verifies a grant before it opens a session in its tenant's name, and a dispatcher before each
call: see grant_verifier.py. The claims:

    aud      "antiphon"
    exp      its end, in seconds since 1970; required
    iat      when it was issued; ignored
    tenant   the tenant it is for; `default` when left out
    scopes   list of text, such as ["read", "write", "crm.contacts"]
    session  the one session it is for; any when left out
    sub      the member of the tenant it was issued for; only distinguishes users of the same session id
"""

import binascii
import re
from base64 import b64decode
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.tools.contract import Scope
from antiphon_shared.values import DEFAULT_TENANT, SessionId, Tenant, Value

AUDIENCE = "antiphon"
_SCOPES_MAX = 1_000
_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


class UnreadableGrant(AntiphonError):
    """The text is not a JSON Web Token, or its claims are not the claims of a grant. The message never quotes it."""

    code = "grant_invalid"


class Claims(Value):
    """The claims of a grant; only a verifying key can prove them genuine."""

    tenant: Tenant = DEFAULT_TENANT
    scopes: tuple[Scope, ...]
    expires: AwareDatetime
    session: str = Field(default="", description="The one session it is for; empty: any.")
    subject: str = Field(
        default="", description="Person of the tenant for whom it was issued; empty: not stated."
    )


def read_claims(token: str) -> Claims:
    """Return the claims of a grant, unverified.

    Raises UnreadableGrant, whose message can end a sentence: `its payload is ...`.
    """
    if not _TOKEN.fullmatch(token):
        raise UnreadableGrant(
            "it is not a signed JSON Web Token.", hint="`antiphon grants issue` creates one."
        )
    try:
        payload = orjson.loads(b64decode(_padded(token.split(".")[1]), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error):
        raise UnreadableGrant("its payload is not JSON in base64url.") from None
    return claims_of(payload)


def claims_of(payload: object) -> Claims:
    """Return the claims in a token's payload, decoded from JSON. Unknown claims are ignored.

    Raises UnreadableGrant.
    """
    try:
        claims = _Payload.model_validate(payload, strict=True)
        expires = datetime.fromtimestamp(claims.exp, UTC)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = f"its claim `{fault['loc'][0]}`" if fault["loc"] else "its payload"
        raise UnreadableGrant(f"{where}: {fault['msg']}.") from None
    except (OverflowError, ValueError, OSError):
        raise UnreadableGrant("its claim `exp` is out of range.") from None
    if AUDIENCE not in (claims.aud if isinstance(claims.aud, list) else [claims.aud]):
        raise UnreadableGrant(f"its claim `aud` is not {AUDIENCE!r}; it was issued for something else.")
    return Claims(
        tenant=claims.tenant,
        scopes=tuple(claims.scopes),
        expires=expires,
        session=claims.session or "",
        subject=claims.sub if isinstance(claims.sub, str) else "",
    )


class _Payload(BaseModel):
    """The claims in the form of a token."""

    model_config = ConfigDict(extra="ignore")

    aud: str | list[str]
    exp: float
    tenant: Tenant = DEFAULT_TENANT
    scopes: list[Scope] = Field(max_length=_SCOPES_MAX)
    session: SessionId | None = None
    sub: Any = None


def _padded(part: str) -> str:
    return part + "=" * (-len(part) % 4)
