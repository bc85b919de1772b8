"""The verification of grants, by coordinators, which open sessions, and by dispatchers, which run calls.

A verified grant carries the authority of the signing key. Only public keys are here. A session gets a tenant
or a scope only by a token that one of them verifies.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from antiphon_shared.events.client import GRANT_LENGTH_MAX
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.tools.grants import AUDIENCE, Claims, UnreadableGrant, claims_of

if TYPE_CHECKING:  # jwt and cryptography take 15 MB, which a deployment without grants does not need
    from antiphon_shared.tools.grant_keys import PublicKey

LEEWAY = timedelta(seconds=10)
"""The tolerated difference between the clocks of issuers and verifiers of grants."""
_VERIFIED_MAX = 1_000
_OPTIONS: Any = {
    "require": ["exp", "aud"],
    # Checked here, against the time passed in, not against the library's clock.
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    # Irrelevant here, and no reason to refuse.
    "verify_sub": False,
    "verify_jti": False,
}


class GrantRefused(AntiphonError):
    """A grant is not genuine, or not valid here. The message ends a sentence: "The grant ..."."""

    code = "grant_invalid"


@dataclass(frozen=True, slots=True)
class Verified:
    """A grant with a valid signature."""

    claims: Claims
    begins: datetime | None


class GrantVerifier:
    """The verifier of grants with public keys; it caches the grants whose signature was valid."""

    def __init__(self, keys: "Sequence[PublicKey]" = ()) -> None:
        self._keys = tuple(keys)
        self._verified: OrderedDict[bytes, Verified] = OrderedDict()

    @property
    def has_keys(self) -> bool:
        """Return whether any grant can be verified at all."""
        return bool(self._keys)

    def verify(self, token: str, session_id: str, now: datetime, *, may_have_ended: bool = False) -> Claims:
        """Return the claims of a grant that is valid for this session at this time. Raises GrantRefused."""
        grant = self._genuine(token)
        _check_use(grant, session_id, min(now, grant.claims.expires) if may_have_ended else now)
        return grant.claims

    def _genuine(self, token: str) -> Verified:
        """Return a grant with a valid signature, which is checked once per token."""
        digest = sha256(token.encode("utf-8", "surrogatepass")).digest()
        verified = self._verified.get(digest)
        if verified is not None:
            self._verified.move_to_end(digest)
            return verified
        if not self._keys:
            raise GrantRefused("cannot be verified: there is no key for it here.")
        grant = genuine(token, self._keys)
        self._verified[digest] = grant
        if len(self._verified) > _VERIFIED_MAX:
            self._verified.popitem(last=False)
        return grant


def genuine(token: str, keys: "Sequence[PublicKey]") -> Verified:
    """Return a grant that one of `keys` verifies, even if it has expired. Raises GrantRefused."""
    import jwt

    from antiphon_shared.tools.grant_keys import algorithms_of

    if len(token) > GRANT_LENGTH_MAX:
        raise GrantRefused(f"is longer than {GRANT_LENGTH_MAX} characters.")
    try:
        algorithm = jwt.get_unverified_header(token).get("alg")
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise GrantRefused("is not a signed JSON Web Token.") from None
    fitting = [key for key in keys if algorithm in algorithms_of(key)]
    if not fitting:
        raise GrantRefused("is signed by an algorithm that no key here is for.")
    for key in fitting:
        payload = _payload(token, key)
        if payload is not None:
            return _read(payload)
    raise GrantRefused("was not signed by a key that is trusted here.")


def _payload(token: str, key: "PublicKey") -> dict[str, Any] | None:
    """Return the claims, as JSON; None if another key has signed them. Raises GrantRefused."""
    import jwt

    from antiphon_shared.tools.grant_keys import algorithms_of

    try:
        return jwt.decode(
            token, key, algorithms=list(algorithms_of(key)), audience=AUDIENCE, options=_OPTIONS
        )
    except jwt.InvalidSignatureError:
        return None
    except jwt.InvalidAudienceError:
        raise GrantRefused(f"was issued for something else: its claim `aud` is not {AUDIENCE!r}.") from None
    except jwt.MissingRequiredClaimError as error:
        raise GrantRefused(f"lacks the claim `{error.claim}`.") from None
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise GrantRefused("cannot be read.") from None


def _read(payload: dict[str, Any]) -> Verified:
    begins = payload.get("nbf")
    try:
        claims = claims_of(payload)
        return Verified(claims, None if begins is None else datetime.fromtimestamp(begins, UTC))
    except UnreadableGrant as error:
        raise GrantRefused(f"cannot be used: {error.message}") from None
    except (TypeError, ValueError, OverflowError, OSError):
        raise GrantRefused("cannot be used: its claim `nbf` is out of range.") from None


def _check_use(grant: Verified, session_id: str, now: datetime) -> None:
    """Raise GrantRefused when the grant is not for this session or this time."""
    claims = grant.claims
    if now - LEEWAY > claims.expires:
        raise GrantRefused(f"ended at {claims.expires:%Y-%m-%d %H:%M:%S} UTC.")
    if grant.begins is not None and now + LEEWAY < grant.begins:
        raise GrantRefused(f"begins at {grant.begins:%Y-%m-%d %H:%M:%S} UTC, later than now.")
    if claims.session and claims.session != session_id:
        raise GrantRefused("is for another session.")
