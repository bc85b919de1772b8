"""Grants at the coordinator: who a query is from, verified before its session is opened or takes a place in line."""

from collections.abc import Callable
from datetime import datetime

import structlog
from antiphon_shared.events import AnyEvent, QuerySubmitted
from antiphon_shared.process.clock import utc_now
from antiphon_shared.tools.grant_verifier import GrantRefused, GrantVerifier
from antiphon_shared.values import DEFAULT_TENANT, SessionId, Tenant

from coordinator.decision import BELIEVED, IGNORED, GrantCheck


class Grants:
    """Checks grants with the operator's public keys. Without one, what a grant says counts for nothing."""

    def __init__(self, verifier: GrantVerifier, now: Callable[[], datetime] = utc_now) -> None:
        self._verifier, self._now = verifier, now
        self._has_told = False

    def tenant_of(self, event: AnyEvent) -> Tenant:
        """Return the tenant that a query comes from. Raises GrantRefused, as a whole sentence."""
        query = event.data
        assert isinstance(query, QuerySubmitted)
        if not query.grant or not self._verifier.has_keys:
            return DEFAULT_TENANT
        try:
            return self._verifier.verify(query.grant, event.subject, self._now()).tenant
        except GrantRefused as refusal:
            raise GrantRefused(f"grant: it {refusal.message}", hint=_ANOTHER) from None

    def check(self, grant: str, session_id: SessionId) -> GrantCheck:
        """Return what a session's grant is worth when it is opened: it may have ended since the query came in."""
        if not grant:
            return BELIEVED
        if not self._verifier.has_keys:
            self._warn_of_missing_keys()
            return IGNORED
        try:
            self._verifier.verify(grant, session_id, self._now())
        except GrantRefused as refusal:
            return GrantCheck(problem=f"it {refusal.message}")
        return BELIEVED

    def _warn_of_missing_keys(self) -> None:
        """Once for each process: it is the same for every session."""
        if not self._has_told:
            structlog.get_logger().warning(
                "grants are ignored: there is no key to verify them with",
                hint="Set ANTIPHON_COORDINATOR_GRANT_KEY_FILE.",
            )
        self._has_told = True


_ANOTHER = "Submit the query with a grant that is in force, or without one."
