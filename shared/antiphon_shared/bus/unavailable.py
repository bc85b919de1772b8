"""The meaning of Redis's errors while it cannot be used, for people."""

import os

from redis.exceptions import BusyLoadingError

from antiphon_shared.process.errors import RedisUnavailable

_WHAT_TO_DO = {
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
    """Return our error for an error of Redis: it says whether Redis replies, quotes it, and names the remedy."""
    message = str(error).strip().rstrip(".")
    word = "LOADING" if isinstance(error, BusyLoadingError) else _word(error, message)
    if word is None:
        return RedisUnavailable(f"Redis is unavailable: {message}.")
    return RedisUnavailable(f"Redis answers, but refuses commands: {message}.", hint=_WHAT_TO_DO[word])


def _word(error: BaseException, message: str) -> str | None:
    """Return the error code that Redis's reply begins with; some of the library's classes have stripped it."""
    by_class = {"OutOfMemoryError": "OOM", "ReadOnlyError": "READONLY"}
    by_class |= {"MasterDownError": "MASTERDOWN", "ClusterDownError": "CLUSTERDOWN"}
    begins = message.partition(" ")[0].rstrip(":")
    return by_class.get(type(error).__name__) or (begins if begins in _WHAT_TO_DO else None)


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
