"""The content of a session, which distinguishes a repeated submission from another query under the same id. Pure.

Submissions with the same query, options, tenant and subject are the same. The end, scopes and signer of a grant
may differ, as a client may renew it.
"""

from dataclasses import dataclass, fields
from hashlib import blake2b

from antiphon_shared.events import AnyEvent, QuerySubmitted
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.tools.grants import UnreadableGrant, read_claims
from antiphon_shared.values import DEFAULT_TENANT


class SessionConflict(AntiphonError):
    """The error for a session id that belongs to another query."""

    code = "session_conflict"


@dataclass(frozen=True, slots=True)
class SessionContent:
    """The content that distinguishes one session from another, as digests."""

    query: bytes
    options: bytes
    tenant: str
    subject: str

    @classmethod
    def of(cls, event: AnyEvent) -> "SessionContent":
        """Return the content of a query.submitted."""
        query = event.data
        assert isinstance(query, QuerySubmitted)
        tenant, subject = _tenant_and_subject(query.grant)
        options = query.options
        if query.steps_name is not None:
            # The client named the steps; their published content may have changed since.
            options = options.model_copy(update={"steps": query.steps_name})
        return cls(_digest(query.query), _digest(options.model_dump_json(exclude_none=True)), tenant, subject)

    def refuse_other(self, first: AnyEvent, session_id: str) -> None:
        """Raise SessionConflict unless `first`, the session's first event, has the same content."""
        if not isinstance(first.data, QuerySubmitted):
            raise conflict(session_id, "and its first event is not a query")
        other = SessionContent.of(first)
        names = [field.name for field in fields(self)]
        differing = [name for name in names if getattr(self, name) != getattr(other, name)]
        if differing:
            raise conflict(session_id, f"with another {' and '.join(differing)}")


def conflict(session_id: str, why: str) -> SessionConflict:
    """Return the error for an id that cannot be used again; `why` ends its first sentence."""
    return SessionConflict(
        f"session {session_id} already exists, {why}.",
        hint="Use a new session id for each query, or omit it.",
    )


def _tenant_and_subject(grant: str) -> tuple[str, str]:
    """Return tenant and subject of a grant; for an unreadable one, the default tenant and a digest of its text."""
    if not grant:
        return DEFAULT_TENANT, ""
    try:
        claims = read_claims(grant)
    except UnreadableGrant:
        return DEFAULT_TENANT, _digest(grant).hex()
    return claims.tenant, claims.subject


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
