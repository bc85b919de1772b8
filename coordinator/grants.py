"""The verification of a query's grant, before the query waits and again before its session is opened."""

from collections.abc import Callable
from datetime import datetime

import structlog
from antiphon_shared.events import AnyEvent, QuerySubmitted
from antiphon_shared.process.clock import utc_now
from antiphon_shared.tools.grant_verifier import GrantRefused, GrantVerifier
from antiphon_shared.values import DEFAULT_TENANT, SessionId, Tenant

from coordinator.decision import GRANT_ACCEPTED, GRANT_IGNORED, GrantCheck


class Grants:
    """The verifier of grants, with the operator's public keys. Without a key, grants have no effect."""

    def __init__(self, verifier: GrantVerifier, now: Callable[[], datetime] = utc_now) -> None:
        self._verifier, self._now = verifier, now
        self._has_warned = False

    def tenant_of(self, event: AnyEvent) -> Tenant:
        """Return the tenant of a query. Raises GrantRefused, as a whole sentence."""
        query = event.data
        assert isinstance(query, QuerySubmitted)
        if not query.grant or not self._verifier.has_keys:
            return DEFAULT_TENANT
        try:
            return self._verifier.verify(query.grant, event.subject, self._now()).tenant
        except GrantRefused as refusal:
            raise GrantRefused(f"grant: it {refusal.message}", hint=_HINT) from None

    def check(self, grant: str, session_id: SessionId) -> GrantCheck:
        """Verify a session's grant at its opening, as it may have expired since the query arrived."""
        if not grant:
            return GRANT_ACCEPTED
        if not self._verifier.has_keys:
            self._warn_of_missing_keys()
            return GRANT_IGNORED
        try:
            self._verifier.verify(grant, session_id, self._now())
        except GrantRefused as refusal:
            return GrantCheck(problem=f"it {refusal.message}")
        return GRANT_ACCEPTED

    def _warn_of_missing_keys(self) -> None:
        """Warn once for each process, as the cause is the same for every session."""
        if not self._has_warned:
            structlog.get_logger().warning(
                "grants_ignored",
                hint="No key verifies grants. Set ANTIPHON_COORDINATOR_GRANT_KEY_FILE.",
            )
        self._has_warned = True


_HINT = "Submit the query with a valid grant, or without one."
