"""The child process of a query: it opens DuckDB, limits itself, answers one request, and ends.

A message, in both directions, is its length in 8 bytes, then JSON. Standard input is open while the parent runs;
when it closes, the child ends too, even during a query.

    request  {"sql": "SELECT ...", "params": {...}, "tables": {...}}
    answer   {"rows": [...]}, or {"refused": [message, action]}, or {"broken": message}
"""

import json
import os
import resource
import sys
import threading

from tool_dispatcher.sql.limits import Limits

_MB = 2**20
_FILES_MAX = 32
_CHARACTERS_MAX = 2_000
"""The length of an error's texts, as they may contain column names of any length."""
_ADDRESS_SPACE_FACTOR = 2
"""Address space as a multiple of DuckDB's limit, for the request and for memory that DuckDB does not count."""


def main(limits: Limits) -> None:
    """Answer the only request of this process."""
    from tool_dispatcher.sql.database import Database, QueryFailed  # slow: imported before the request

    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # DuckDB draws a progress bar there
    database = Database(limits)
    _restrict(limits)
    try:
        request = json.loads(_read(int.from_bytes(_read(8), "big")))
        threading.Thread(target=_end_with_parent, daemon=True).start()
        answer = b'{"rows":' + database.answer(request["sql"], request["params"], request["tables"]) + b"}"
    except QueryFailed as failed:
        answer = _encoded(refused=[failed.message[:_CHARACTERS_MAX], failed.action[:_CHARACTERS_MAX]])
    except MemoryError:
        message = f"The query and its tables need more than {limits.memory_mb} MiB of memory."
        answer = _encoded(refused=[message, "Read fewer rows or columns, or aggregate earlier."])
    except Exception as error:  # noqa: BLE001  # only the parent can report it
        answer = _encoded(broken=f"{type(error).__name__}: {error}"[:_CHARACTERS_MAX])
    with os.fdopen(answers, "wb") as out:
        out.write(len(answer).to_bytes(8, "big") + answer)
    os._exit(0)  # skips DuckDB's clean-up, which the end of the process replaces


def _read(length: int) -> bytes:
    """Return this many bytes of the request; exit if the parent has ended."""
    data = sys.stdin.buffer.read(length)
    if len(data) < length:
        os._exit(0)
    return data


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


def _restrict(limits: Limits) -> None:
    """Limit the CPU time of this process from now on, its memory beyond the present size, and its files to none."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = int(used.ru_utime + used.ru_stime) + 1 + limits.cpu_s
    _limit(resource.RLIMIT_CPU, cpu_s, cpu_s + 1)  # SIGXCPU first, then SIGKILL
    _limit(resource.RLIMIT_FSIZE, 0, 0)
    _limit(resource.RLIMIT_CORE, 0, 0)
    _limit(resource.RLIMIT_NOFILE, _FILES_MAX, _FILES_MAX)
    if sys.platform == "linux":  # on other systems only DuckDB's limit applies
        with open("/proc/self/statm", "rb") as statm:
            present = int(statm.read().split()[0]) * resource.getpagesize()
        address_space = present + _ADDRESS_SPACE_FACTOR * limits.memory_mb * _MB
        _limit(resource.RLIMIT_AS, address_space, address_space)


def _limit(which: int, soft: int, hard: int) -> None:
    _, hard_now = resource.getrlimit(which)
    if hard_now != resource.RLIM_INFINITY:
        soft, hard = min(soft, hard_now), min(hard, hard_now)
    resource.setrlimit(which, (soft, hard))


def _encoded(**answer: object) -> bytes:
    return json.dumps(answer).encode()
