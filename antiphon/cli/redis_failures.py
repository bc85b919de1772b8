"""Errors of Redis as errors of commands."""

from antiphon_shared.bus.connection import is_unavailable
from antiphon_shared.bus.unavailable import unavailable
from antiphon_shared.process.errors import AntiphonError, RedisUnavailable
from redis.exceptions import NoPermissionError, RedisError

_NO_PERMISSION_HINT = (
    "Of the users that `antiphon redis acl` prints, `client` submits queries and reads answers, and `operator` lists, "
    "decides and repairs: set the address of the right one as ANTIPHON_REDIS_URL. After an upgrade, print the rules "
    "again."
)


def failure_of(error: RedisError) -> AntiphonError:
    """Return the error that a command ends with."""
    if is_unavailable(error):
        return unavailable(error)
    hint = _NO_PERMISSION_HINT if isinstance(error, NoPermissionError) else ""
    return RedisUnavailable(f"Redis: {error}.", hint=hint)
