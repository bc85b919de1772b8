"""What a session may do here and now: by its grant, verified, or by default where it has none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from antiphon_shared.tools.grant_keys import PublicKey
from antiphon_shared.tools.grant_verifier import LEEWAY, GrantRefused, GrantVerifier
from antiphon_shared.values import DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class Standing:
    """What a session may do here and now."""

    scopes: frozenset[str] = frozenset()
    problem: str = ""
    """Why it may do nothing, as a sentence; empty when all is well."""
    ends: datetime | None = None
    """When its grant is over; None where it has none."""

    def is_over(self, now: datetime) -> bool:
        """Whether the grant has ended since, give or take the clocks."""
        return self.ends is not None and now - LEEWAY > self.ends


class Verifier:
    """Tells what sessions may do: by their grant, or by default where they have none."""

    def __init__(self, keys: Sequence[PublicKey] = (), default_scopes: Iterable[str] = ("read",)) -> None:
        self._grants = GrantVerifier(keys)
        self._default = Standing(frozenset(default_scopes))

    def verify(
        self, token: str, session_id: str, tenant: str, now: datetime, *, for_undo: bool = False
    ) -> Standing:
        """Return the standing of a session with that grant, an empty one being none; never raises.

        `for_undo`: for calls that undo what the session has done. A grant that has ended is good for them, or what was
        done under it while it was good could never be undone.
        """
        if not token:
            return self._default if tenant == DEFAULT_TENANT else _without_grant(tenant)
        try:
            claims = self._grants.verify(token, session_id, now, may_have_ended=for_undo)
        except GrantRefused as refusal:
            return Standing(problem=f"The session's grant {refusal.message}")
        if claims.tenant != tenant:
            return Standing(problem="The session's grant is for another tenant than the session runs for.")
        return Standing(frozenset(claims.scopes), ends=None if for_undo else claims.expires)


def _without_grant(tenant: str) -> Standing:
    return Standing(problem=f"The session runs for the tenant {tenant!r}, and has no grant that says so.")
