"""Errors of the client, in addition to the errors of antiphon_shared."""

from typing import Self

from antiphon_shared.process.errors import AntiphonError


class InvalidQuery(AntiphonError):
    """A query or one of its arguments is invalid. Nothing was sent."""

    code = "invalid_query"


class UnknownSession(AntiphonError):
    """The session does not exist: it was never submitted, or is no longer stored."""

    code = "unknown_session"

    @classmethod
    def of(cls, session_id: str) -> Self:
        """Return the error about a session that is not stored."""
        hint = "`antiphon sessions list` shows the stored sessions."
        return cls(f"session {session_id} does not exist.", hint=hint)

    @classmethod
    def lost(cls, session_id: str) -> Self:
        """Return the error about a session that is no longer stored."""
        return cls(
            f"the data of session {session_id} is gone from Redis: Redis has lost it (a restart without persistence, "
            "FLUSHALL, eviction), or its retention is over.",
            hint="There will be no answer. Check whether its writes took effect, then submit the query again. "
            "docs/operations.md has the Redis settings that keep sessions.",
        )

    @classmethod
    def of_run(cls, run_id: str) -> Self:
        """Return the error about a run that is not stored."""
        hint = "`antiphon workflows runs list` shows the stored runs."
        return cls(f"run {run_id} does not exist.", hint=hint)


class SubmissionRejected(AntiphonError):
    """The pipeline has rejected the submission; the message is the reason."""

    code = "submission_rejected"


class Overloaded(SubmissionRejected):
    """Too many queries wait already, so the query was refused. Submitting it again later may succeed."""

    code = "overloaded"
    retryable = True


class SessionConflict(SubmissionRejected):
    """The session id belongs to another query already, so the query was rejected."""

    code = "session_conflict"


class StillRunning(AntiphonError):
    """The session has not ended within the given time. It continues."""

    code = "still_running"
    retryable = True


class NotWaiting(AntiphonError):
    """The session does not wait for an approval or answer; the message describes its activity. Nothing was sent."""

    code = "not_waiting"


class TooLate(NotWaiting):
    """A decision or answer that was sent, but had no effect on a call: another came first, or the session had ended."""

    code = "too_late"


class PipelineFailed(AntiphonError):
    """A part of an embedded pipeline has stopped."""

    code = "pipeline_failed"


class AlreadyThere(AntiphonError):
    """The target exists and would be overwritten. Nothing was changed."""

    code = "already_there"


class UnfitResult(AntiphonError):
    """A shaped answer fits the JSON Schema of the requested type, and not the type itself."""

    code = "unfit_result"
