"""Errors a user of the client can meet, beside those the whole house shares."""

from antiphon_shared.process.errors import AntiphonError


class InvalidQuery(AntiphonError):
    """A query, or something given with it, cannot be accepted. Nothing was sent."""

    code = "invalid_query"


class UnknownSession(AntiphonError):
    """There is no session of that id: it never was, or it is not kept any more."""

    code = "unknown_session"


class SubmissionRejected(AntiphonError):
    """The pipeline has set the submission aside; the message is its reason."""

    code = "submission_rejected"


class Overloaded(SubmissionRejected):
    """So many queries wait already that this one was refused. Submitting it again later may succeed."""

    code = "overloaded"
    retryable = True


class SessionConflict(SubmissionRejected):
    """The session id belongs to another query already, whose answer is not given to this one."""

    code = "session_conflict"


class StillRunning(AntiphonError):
    """The session has not ended within the time given. It goes on."""

    code = "still_running"
    retryable = True


class NotWaiting(AntiphonError):
    """The session waits for nobody's approval, or answer; the message is what it does instead. Nothing was sent."""

    code = "not_waiting"


class PipelineFailed(AntiphonError):
    """A part of an embedded pipeline has stopped."""

    code = "pipeline_failed"


class AlreadyThere(AntiphonError):
    """What was to be written would take the place of something else. Nothing was changed."""

    code = "already_there"


class UnfitResult(AntiphonError):
    """An answer of a shape fits the JSON Schema of the type asked for, and not the type."""

    code = "unfit_result"
