"""The scopes of a session: from its verified grant, or the default ones if it has no grant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from antiphon_shared.tools.grant_verifier import LEEWAY, GrantRefused, GrantVerifier
from antiphon_shared.values import DEFAULT_TENANT

if TYPE_CHECKING:
    from antiphon_shared.tools.grant_keys import PublicKey


@dataclass(frozen=True, slots=True)
class Authorization:
    """The scopes of a session at the time of a batch."""

    scopes: frozenset[str] = frozenset()
    problem: str = ""
    """Why the session may call no tool, as a sentence; empty if its grant is good or not needed."""
    ends: datetime | None = None
    """The end of the session's grant; None if it has no grant."""

    def is_over(self, now: datetime) -> bool:
        """Return whether the grant has ended, with a leeway for clocks that differ."""
        return self.ends is not None and now - LEEWAY > self.ends


class Verifier:
    """The source of a session's scopes: its grant, or the default scopes if it has no grant."""

    def __init__(self, keys: "Sequence[PublicKey]" = (), default_scopes: Iterable[str] = ("read",)) -> None:
        self._grants = GrantVerifier(keys)
        self._default = Authorization(frozenset(default_scopes))

    def verify(
        self, token: str, session_id: str, tenant: str, now: datetime, *, for_undo: bool = False
    ) -> Authorization:
        """Return the scopes of a session with this grant; an empty token means no grant. Never raises.

        `for_undo`: for calls that undo earlier ones of the session. They may run under a grant that has
        ended; otherwise a write could not be undone after the grant that allowed it.
        """
        if not token:
            return self._default if tenant == DEFAULT_TENANT else _without_grant(tenant)
        try:
            claims = self._grants.verify(token, session_id, now, may_have_ended=for_undo)
        except GrantRefused as refusal:
            return Authorization(problem=f"The session's grant {refusal.message}")
        if claims.tenant != tenant:
            return Authorization(
                problem="The session's grant is for another tenant than the session runs for."
            )
        return Authorization(frozenset(claims.scopes), ends=None if for_undo else claims.expires)


def _without_grant(tenant: str) -> Authorization:
    return Authorization(
        problem=f"The session runs for the tenant {tenant!r}, and has no grant that says so."
    )
