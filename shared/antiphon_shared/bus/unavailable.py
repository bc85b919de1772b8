"""Explanations of the errors of an unavailable Redis, for people."""

import os

from redis.exceptions import BusyLoadingError

from antiphon_shared.process.errors import RedisUnavailable

_HINTS = {
    "MISCONF": "Free space on its disk, or check why it cannot save: `redis-cli INFO persistence`.",
    "OOM": "Raise its maxmemory, or delete data that is no longer needed.",
    "READONLY": "It is a replica: set ANTIPHON_REDIS_URL to the master, or wait for the failover to end.",
    "LOADING": "It is loading its data from disk: wait until it has finished.",
    "NOREPLICAS": "Fewer replicas are connected than min-replicas-to-write demands: start them, or lower it.",
    "BUSY": "A script blocks it: wait, or end the script with `redis-cli SCRIPT KILL`.",
    "MASTERDOWN": "It is a replica without its master: wait for the failover to end.",
    "CLUSTERDOWN": "Its cluster is incomplete: see `redis-cli CLUSTER INFO`.",
}


def unavailable(error: BaseException) -> RedisUnavailable:
    """Return the error that quotes an error of Redis, says whether Redis replies, and names the remedy."""
    message = str(error).strip().rstrip(".")
    word = "LOADING" if isinstance(error, BusyLoadingError) else _error_code(error, message)
    if word is None:
        return RedisUnavailable(f"Redis is unavailable: {message}.")
    return RedisUnavailable(f"Redis answers, but refuses commands: {message}.", hint=_HINTS[word])


def _error_code(error: BaseException, message: str) -> str | None:
    """Return the error code that begins Redis's reply, also if the library has removed it."""
    by_class = {"OutOfMemoryError": "OOM", "ReadOnlyError": "READONLY"}
    by_class |= {"MasterDownError": "MASTERDOWN", "ClusterDownError": "CLUSTERDOWN"}
    code = message.partition(" ")[0].rstrip(":")
    return by_class.get(type(error).__name__) or (code if code in _HINTS else None)


def reason_of(error: BaseException) -> str:
    """Return the operating system's reason for a failed connection, or else the library's message."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
            return os.strerror(cause.errno).lower()
        if isinstance(cause, OSError) and cause.strerror:  # a name that cannot be resolved
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    return str(error).rstrip(".") or type(error).__name__
