"""The meaning of Redis's errors while it cannot be used, for people. Pure, apart from the library's error types."""

from redis.exceptions import BusyLoadingError

from antiphon_shared.process.errors import RedisUnavailable

_WHAT_TO_DO = {
    "MISCONF": "Free room on its disk, or see why it cannot save: `redis-cli INFO persistence`.",
    "OOM": "Raise its maxmemory, or delete what is not needed any more.",
    "READONLY": "It is a replica: set ANTIPHON_REDIS_URL to the master, or wait for the failover to end.",
    "LOADING": "It reads its data from disk after a start: wait until it has.",
    "NOREPLICAS": "Fewer replicas are connected than min-replicas-to-write demands: start them, or lower it.",
    "BUSY": "A script holds it: wait, or end it with `redis-cli SCRIPT KILL`.",
    "MASTERDOWN": "It is a replica without its master: wait for the failover to end.",
    "CLUSTERDOWN": "Its cluster is not whole: see `redis-cli CLUSTER INFO`.",
}


def unavailable(error: BaseException) -> RedisUnavailable:
    """Return the error to raise for one of Redis's: whether it replies, what it says, and what to do."""
    said = str(error).strip().rstrip(".")
    word = "LOADING" if isinstance(error, BusyLoadingError) else _word(error, said)
    if word is None:
        return RedisUnavailable(f"Redis is out of reach: {said}.")
    return RedisUnavailable(
        f"Redis answers, but does not do what it is asked: {said}.", hint=_WHAT_TO_DO[word]
    )


def _word(error: BaseException, said: str) -> str | None:
    """Return the error code that Redis's reply begins with; some of the library's classes have stripped it."""
    by_class = {"OutOfMemoryError": "OOM", "ReadOnlyError": "READONLY"}
    by_class |= {"MasterDownError": "MASTERDOWN", "ClusterDownError": "CLUSTERDOWN"}
    begins = said.partition(" ")[0].rstrip(":")
    return by_class.get(type(error).__name__) or (begins if begins in _WHAT_TO_DO else None)
