"""The child process of a query: opens DuckDB, limits itself, answers one request, and ends.

A message, in both directions, is its length in 8 bytes followed by JSON. Standard input stays open while the parent
runs; when it closes, the child ends too, even in the middle of a query.

    request  {"sql": "SELECT ...", "params": {...}, "tables": {...}}
    answer   {"rows": [...]}, or {"refused": [message, action]}, or {"broken": message}
"""

import json
import os
import resource
import sys
import threading
from typing import Any

from tool_dispatcher.sql.limits import Limits

_MB = 2**20
_FILES_MAX = 32
_CHARACTERS_MAX = 2_000
"""The length of a message. Names of columns may be of any length."""
_ROOM_FACTOR = 2
"""Address space as a multiple of DuckDB's own limit: for memory it does not count, and for the request."""


def main(limits: Limits) -> None:
    """Answer the only request of this process."""
    from tool_dispatcher.sql.database import Database, QueryFailed  # slow: imported before the request

    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # DuckDB draws a progress bar there
    database = Database(limits)
    _restrict(limits)
    try:
        request = json.loads(_read())
        threading.Thread(target=_end_with_parent, daemon=True).start()
        answer = b'{"rows":' + database.answer(request["sql"], request["params"], request["tables"]) + b"}"
    except QueryFailed as failed:
        answer = _written(refused=[failed.message[:_CHARACTERS_MAX], failed.action[:_CHARACTERS_MAX]])
    except MemoryError:
        message = f"The query and its tables need more than {limits.memory_mb} MiB of memory."
        answer = _written(refused=[message, "Read fewer rows or columns, or aggregate earlier."])
    except Exception as error:  # noqa: BLE001  # only the parent can report it
        answer = _written(broken=f"{type(error).__name__}: {error}"[:_CHARACTERS_MAX])
    with os.fdopen(answers, "wb") as out:
        out.write(len(answer).to_bytes(8, "big") + answer)
    os._exit(0)  # skips DuckDB's clean-up: nothing of it outlives the process


def _read() -> bytes:
    """Return the request; exit where the parent has ended."""
    return _exactly(int.from_bytes(_exactly(8), "big"))


def _exactly(length: int) -> bytes:
    found = sys.stdin.buffer.read(length)
    if len(found) < length:
        os._exit(0)
    return found


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


def _restrict(limits: Limits) -> None:
    """Limit this process permanently: CPU time from now on, memory beyond its present size, no files."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = int(used.ru_utime + used.ru_stime) + 1 + limits.cpu_s
    _limit(resource.RLIMIT_CPU, cpu_s, cpu_s + 1)  # SIGXCPU first, then SIGKILL
    _limit(resource.RLIMIT_FSIZE, 0, 0)
    _limit(resource.RLIMIT_CORE, 0, 0)
    _limit(resource.RLIMIT_NOFILE, _FILES_MAX, _FILES_MAX)
    if sys.platform == "linux":  # elsewhere only DuckDB's own limit holds
        with open("/proc/self/statm", "rb") as statm:
            now = int(statm.read().split()[0]) * resource.getpagesize()
        room = now + _ROOM_FACTOR * limits.memory_mb * _MB
        _limit(resource.RLIMIT_AS, room, room)


def _limit(which: int, soft: int, hard: int) -> None:
    _, least = resource.getrlimit(which)
    if least != resource.RLIM_INFINITY:
        soft, hard = min(soft, least), min(hard, least)
    resource.setrlimit(which, (soft, hard))


def _written(**answer: Any) -> bytes:
    return json.dumps(answer).encode()
