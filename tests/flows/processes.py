"""The five components as real processes, and Redis as any outside program sees it."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import orjson
import redis
from antiphon_shared.bus.handling import BRIEFING
from antiphon_shared.bus.intake import GROUP
from antiphon_shared.bus.keys import Keys
from antiphon_shared.events import Component, EventData, ToolsCompleted
from antiphon_shared.events.base import COMPONENTS, short_type
from antiphon_shared.events.session import Response

from tests.flows.starting import ROOT, Started, command_line, is_stopped, started

__all__ = ["LIMIT_S", "ROOT", "Log", "Processes", "component_of", "kinds"]

LIMIT_S = 120.0
"""The default limit on the wait for a condition."""

Log = list[dict[str, Any]]
"""The events of a session in order, as JSON."""


class Processes:
    """Processes by name, `coordinator` or `coordinator-2`, each with its log in a file; ended by their ids."""

    def __init__(
        self,
        url: str,
        partitions: int = 1,
        logins: Mapping[Component, str] | None = None,
        is_forked: bool = True,
        processes: int = len(COMPONENTS),
        **environment: str,
    ) -> None:
        """Give components the users `logins`, as `user:password`, in place of the one in `url`.

        With one of `processes`, every component's name stands for that one; any other name, such as
        `coordinator-2`, for a further process that runs all five.
        """
        self._is_forked, self._is_one = is_forked, processes == 1
        self.client: redis.Redis = self.client_of(url)
        self._host, self._logins = url.rpartition("@")[2].removeprefix("redis://"), logins or {}
        self.keys = Keys("antiphon", partitions)
        self.folder = Path(tempfile.mkdtemp(prefix="antiphon-flow-"))
        self.running: dict[str, Started] = {}
        ours = ("ANTIPHON", "ANTHROPIC", "OPENAI")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(ours)},
            "ANTIPHON_REDIS_URL": url,
            "ANTIPHON_PARTITIONS": str(partitions),
            **environment,
        }

    def client_of(self, url: str) -> redis.Redis:
        """Return the test's own client."""
        return redis.Redis.from_url(url, protocol=3, socket_timeout=LIMIT_S)

    def start(self, *names: str, **settings: str) -> None:
        """Start processes, with settings of their own; one of each component when none is named."""
        if self._is_one:
            environment = {**self.environment, **settings}
            for name in {"one_process" if name in COMPONENTS else name for name in names or COMPONENTS}:
                log = self.folder / f"{name}.log"
                process = started("antiphon.one_process", environment, log, self._is_forked)
                self.running |= dict.fromkeys(COMPONENTS if name == "one_process" else [name], process)
            return
        for name in names or COMPONENTS:
            environment = {**self.environment, **self._own_environment(name), **settings}
            log = self.folder / f"{name}.log"
            self.running[name] = started(component_of(name), environment, log, self._is_forked)

    def wait_until_ready(self, *names: str, limit_s: float = LIMIT_S) -> None:
        """Wait until each process has sent a heartbeat since its last start."""
        waiting = [(self.running[name].pid, component_of(name)) for name in names or self.running]

        def is_ready() -> bool:
            return all(pid in self._pids_alive(component) for pid, component in waiting)

        self.until(is_ready, f"{', '.join(names) or 'all'} ready", limit_s)

    def kill(self, name: str) -> None:
        """Kill the process by SIGKILL, and wait for its end."""
        self.running[name].kill()
        self.running[name].wait()

    def terminate(self, name: str, limit_s: float) -> int:
        """Send SIGTERM, also to a stopped process; return the exit code."""
        self.running[name].terminate()
        self.let_go(name)
        return self.running[name].wait(timeout=limit_s)

    def hold(self, *names: str) -> None:
        """Stop processes in the middle of their work."""
        for name in names:
            process = self.running[name]
            process.send_signal(signal.SIGSTOP)
            self.until(partial(is_stopped, process), f"{name} to stand still")

    def let_go(self, *names: str) -> None:
        """Let stopped processes continue."""
        for name in names:
            self.running[name].send_signal(signal.SIGCONT)

    def hold_when(self, condition: Callable[[], bool], what: str, *names: str) -> None:
        """Stop them when a condition holds, so that it stays true; until then, let them continue for a moment."""

        def holds() -> bool:
            self.hold(*names)
            if condition():
                return True
            self.let_go(*names)
            return False

        self.until(holds, what)

    def stop(self) -> None:
        """End everything that still runs, and clear up."""
        for process in self.running.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        self.client.close()
        shutil.rmtree(self.folder)

    def until(self, condition: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
        """Wait for a condition, bounded; when it does not come, show the logs of the processes."""
        deadline = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {limit_s:.0f} s for {what}\n{self.logs()}")
            time.sleep(0.02)

    def logs(self, lines: int = 15) -> str:
        """Return the end of every process's log."""
        parts: list[str] = []
        for file in sorted(self.folder.glob("*.log")):
            parts += [f"--- {file.stem}", *file.read_text(errors="replace").splitlines()[-lines:]]
        return "\n".join(parts)

    # Requests to the pipeline, and their results.

    def submit(self, query: str, **fields: str) -> None:
        self.add(self.keys.queries(), {"query": query, **fields})

    def add(self, stream: str, fields: Mapping[str, str | bytes] | Mapping[bytes | str, bytes | str]) -> None:
        """Add one entry with any content to a stream."""
        self.client.xadd(stream, cast("dict[Any, Any]", fields))

    def responses(self) -> list[Response]:
        """Return every response, in order, partition by partition."""
        entries = [entry for p in self._partitions for entry in self.entries(self.keys.responses(p))]
        return [Response.model_validate_json(orjson.dumps(_event(fields)["data"])) for _, fields in entries]

    def session_ids(self) -> list[str]:
        """Return every session that was ever opened."""
        opened = [self.client.zrange(self.keys.sessions(p), 0, -1) for p in self._partitions]
        return [name.decode() for names in opened for name in cast("list[bytes]", names)]

    def response_to(self, session_id: str) -> Response:
        """Return the one response of a session, waited for."""

        def found() -> list[Response]:
            return [response for response in self.responses() if response.session_id == session_id]

        self.until(lambda: bool(found()), f"the response to {session_id}")
        (response,) = found()
        return response

    def response_count(self) -> int:
        return sum(self.client.xlen(self.keys.responses(p)) for p in self._partitions)

    def wait_for_responses(self, count: int, limit_s: float = LIMIT_S) -> None:
        self.until(lambda: self.response_count() >= count, f"{count} responses", limit_s)

    def log(self, session_id: str) -> Log:
        return [_event(fields) for _, fields in self.entries(self.keys.log(session_id))]

    def events(self, session_id: str, kind: type[EventData]) -> list[dict[str, Any]]:
        """Return the data of a session's events of one type, in order."""
        return [event["data"] for event in self.log(session_id) if event["type"] == kind.type]

    def results(self, session_id: str) -> list[dict[str, Any]]:
        """Return the results of all calls of a session, in order."""
        return [result for data in self.events(session_id, ToolsCompleted) for result in data["results"]]

    def briefing(self, session_id: str) -> str:
        """Return the newest briefing of a session."""
        text = self.client.hget(self.keys.of_session(session_id, BRIEFING), "content")
        assert isinstance(text, bytes)
        return text.decode()

    def antiphon(self, *arguments: str, url: str = "") -> "subprocess.CompletedProcess[str]":
        """Run the command line as a client of the pipeline, by default with the address of the components."""
        address = {"ANTIPHON_REDIS_URL": url} if url else {}
        return command_line(*arguments, environment={**self.environment, **address})

    def entries(self, stream: str) -> list[tuple[bytes, dict[bytes, bytes]]]:
        return cast("list[tuple[bytes, dict[bytes, bytes]]]", self.client.xrange(stream))

    # Work in flight.

    def pending(self, component: Component) -> int:
        """Return the deliveries of a component that are read and not acknowledged."""
        return sum(self._pending_by_consumer(self._inboxes(component), component).values())

    def in_flight(self, name: str) -> int:
        """Return the deliveries that one process has read and not acknowledged."""
        return self._of_process(name, self._inboxes(component_of(name)), component_of(name))

    def let_in(self, name: str) -> int:
        """Return the submissions that one coordinator has read and not acknowledged."""
        return self._of_process(name, [self.keys.queries()], GROUP)

    def is_idle(self) -> bool:
        """Return whether no message, timer, open session or dead letter is left."""
        return not any(self.left_over().values())

    def left_over(self, with_dead: bool = True) -> dict[str, int]:
        """Return the remaining keys by name."""
        sizes: dict[str, Any] = {self.keys.queries(): self.client.xlen(self.keys.queries())}
        for p in self._partitions:
            for inbox in (self.keys.inbox(p, component) for component in COMPONENTS):
                sizes[inbox] = self.client.xlen(inbox)
            sizes[self.keys.dead(p)] = self.client.xlen(self.keys.dead(p)) if with_dead else 0
            waiting = [self.keys.tenants_waiting(p), self.keys.waiting_deadlines(p), self.keys.turns(p)]
            for ordered in (self.keys.timers(p), self.keys.open_sessions(p), *waiting):
                sizes[ordered] = self.client.zcard(ordered)
            for table in (self.keys.timer_messages(p), self.keys.queries_waiting(p)):
                sizes[table] = self.client.hlen(table)
        for component in COMPONENTS:
            sizes[f"pending {component}"] = self.pending(component)
        return sizes

    def wait_until_idle(self) -> None:
        with contextlib.suppress(AssertionError):
            self.until(self.is_idle, "everything done")
        left = {key: size for key, size in self.left_over().items() if size}
        assert not left, f"left over: {left}\n{self.logs()}"

    @property
    def _partitions(self) -> range:
        return range(self.keys.partitions)

    def _own_environment(self, name: str) -> dict[str, str]:
        login = self._logins.get(component_of(name))
        return {"ANTIPHON_REDIS_URL": f"redis://{login}@{self._host}"} if login else {}

    def _inboxes(self, component: Component) -> list[str]:
        return [self.keys.inbox(partition, component) for partition in self._partitions]

    def _of_process(self, name: str, streams: Iterable[str], group: str) -> int:
        mark = f"-{self.running[name].pid}-"
        pending = self._pending_by_consumer(streams, group)
        return sum(count for consumer, count in pending.items() if mark in consumer)

    def _pending_by_consumer(self, streams: Iterable[str], group: str) -> dict[str, int]:
        counts: dict[str, int] = {}
        for stream in streams:
            with contextlib.suppress(redis.ResponseError):  # the stream is not there yet
                summary = self.client.xpending(stream, group)
                for consumer in summary["consumers"]:
                    name = f"{stream} {consumer['name'].decode()}"
                    counts[name] = int(consumer["pending"])
        return counts

    def _pids_alive(self, component: Component) -> set[int]:
        beats = cast("dict[bytes, bytes]", self.client.hgetall(self.keys.workers(component)))
        return {orjson.loads(beat.split(b" ", 1)[1])["pid"] for beat in beats.values()}


def kinds(log: Log) -> list[str]:
    """Return the short type of each event, such as `query.submitted` for `antiphon.query.submitted.v1`."""
    return [short_type(event["type"]) for event in log]


def component_of(name: str) -> Component:
    """Return the component of a process, such as `tool_dispatcher` for `tool_dispatcher-2`."""
    return cast(Component, name.partition("-")[0])


def _event(fields: dict[bytes, bytes]) -> dict[str, Any]:
    return cast("dict[str, Any]", orjson.loads(fields[b"event"]))
