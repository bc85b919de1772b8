"""Two dispatchers with writing tools, the service they write to, and Redis; the test is their coordinator.

It puts batches into their inbox, and reads what arrives in the coordinator's.
"""

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from antiphon_shared.events import AnyEvent, ToolsRequested, decode, encode
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import idempotency_key
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.values import DEFAULT_TENANT

from tests.chaos.write_effects import ServiceRecords
from tests.chaos.write_runs import Runs
from tests.chaos.write_states import KINDS, Kind, Record, State, Write, state_of
from tests.envelopes import an_event
from tests.flows.processes import ROOT, Processes
from tests.redis_server import running

NAMES = ("tool_dispatcher", "tool_dispatcher-2")
LEASE_S = 0.8
WAIT_S = 0.06
"""The approximate length of each part of a run, and of the service's answer."""
LATE_S = 1.5 * LEASE_S
"""The delay of some requests at the service: long enough for others to take over when the sender is dead."""

_ROUND = 1
_LOG_ID = "1-1"
_PENDING_MAX = 1_000
_WITHOUT_WRITES_MS_MAX = 250
_BARRIER = 5
"""Round trips after which Redis has executed whatever a process sent before it was stopped."""


class Writers(Processes):
    """The dispatchers as processes, and the state of each of their writes."""

    def __init__(self, url: str, service_port: int, folder: Path) -> None:
        self.runs, self.service = Runs(folder / "runs"), ServiceRecords(folder / "service")
        self.cut: dict[str, int] = {}
        """Writes that were cut off between claim and settle, by key: the fence under which they were."""
        self.asked: dict[str, AnyEvent] = {}
        """The requests by session."""
        self._sessions: dict[bytes, str] = {}
        super().__init__(
            url,
            is_forked=False,  # only a parent can see that a process is stopped
            ANTIPHON_TOOLS="tests.chaos.write_tools",
            ANTIPHON_BUS_LEASE_S=str(LEASE_S),
            ANTIPHON_BUS_MAX_DELIVERIES="100",
            ANTIPHON_LOG_LEVEL="warning",
            ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES="read,write",
            RUNS_FILE=str(folder / "runs"),
            SERVICE_PORT=str(service_port),
            RUN_WAIT_S=str(WAIT_S),
        )

    # The coordinator's part.

    def submit(self, query: str, **fields: str) -> None:
        """Submit a batch of one read, and of a write of each kind that needs its result."""
        session_id = fields["session_id"]
        event = an_event(a_batch(session_id, query), session_id)
        self.asked[session_id] = event
        fields_of_entry: dict[str, str | bytes] = {"event": encode(event), "log": _LOG_ID}
        self.add(self._inbox, fields_of_entry)

    def response_count(self) -> int:
        return int(self.client.xlen(self._outbox))

    def answers(self) -> list[AnyEvent]:
        """Return all answers, in order."""
        return [decode(fields[b"event"]) for _, fields in self.entries(self._outbox)]

    def wait_until_quiet(self) -> None:
        """Wait until nothing is in flight or queued, and check that there are no dead letters."""

        def is_quiet() -> bool:
            self.runs.read()
            alive = [process.pid for process in self.running.values()]
            return not (
                self.client.xlen(self._inbox)
                or self.pending("tool_dispatcher")
                or self.service.held()
                or any(map(self.runs.under_way, alive))
            )

        self.until(is_quiet, "everything done")
        assert not self.client.xlen(self.keys.dead(0)), f"dead letters\n{self.logs()}"

    # The states of writes.

    def writes_of(self, name: str) -> list[Write]:
        """Return every write that a process has in flight, with its state. Exact when the process is stopped."""
        self.barrier()
        mark = f"-{self.running[name].pid}-".encode()
        pending = self.client.xpending_range(self._inbox, "tool_dispatcher", "-", "+", _PENDING_MAX)
        mine = [one["message_id"] for one in cast("list[Any]", pending) if mark in one["consumer"]]
        sessions = [self._session_in(entry) for entry in mine]
        keys = [(kind, key_of(session_id, kind)) for session_id in sessions if session_id for kind in KINDS]
        return self.states(name, keys)

    def states(self, name: str, keys: Iterable[tuple[Kind, str]]) -> list[Write]:
        """Return the states of some writes that a process has, or had, in flight."""
        wanted, pid = list(keys), self.running[name].pid
        records = self.records(key for _, key in wanted)
        self.runs.read()
        runs = {key: self.runs.under(key, record.fence) for key, record in records.items()}
        stages = self.service.stages(run.run for run in runs.values() if run is not None)

        def state(key: str) -> State:
            run = runs[key]
            stage = stages.get(run.run) if run is not None else None
            return state_of(records[key], pid, run, stage, self.cut.get(key, 0))

        return [Write(key, kind, records[key].fence, state(key)) for kind, key in wanted]

    def records(self, keys: Iterable[str]) -> dict[str, Record]:
        """Return the records of some writes in Redis."""
        wanted = list(keys)
        with self.client.pipeline(transaction=False) as pipeline:
            for key in wanted:
                pipeline.hmget(self.keys.effect(_session_of(key), key), ["state", "fence"])
            found = pipeline.execute()
        return {
            key: Record(state.decode(), int(fence)) if state else Record()
            for key, (state, fence) in zip(wanted, found, strict=True)
        }

    def barrier(self) -> None:
        """Wait until Redis has executed all commands of a process that is stopped or dead by now."""
        for _ in range(_BARRIER):
            self.client.ping()

    @contextlib.contextmanager
    def without_writes(self, is_wanted: bool) -> Iterator[None]:
        """Pause Redis's writing commands for the length of a block, if wanted, so that runs cannot be settled."""
        if is_wanted:
            self.client.client_pause(_WITHOUT_WRITES_MS_MAX, all=False)
        try:
            yield
        finally:
            if is_wanted:
                self.client.client_unpause()

    def _session_in(self, entry: bytes) -> str | None:
        """Return the session of an inbox entry; None when another worker has just ended it."""
        if entry not in self._sessions:
            for _, fields in cast("list[Any]", self.client.xrange(self._inbox, entry, entry)):
                self._sessions[entry] = decode(fields[b"event"]).subject
        return self._sessions.get(entry)

    @property
    def _inbox(self) -> str:
        return self.keys.inbox(0, "tool_dispatcher")

    @property
    def _outbox(self) -> str:
        return self.keys.inbox(0, "coordinator")


def a_batch(session_id: str, what: str) -> ToolsRequested:
    found = "${calls[0].found}"
    read = RequestedCall(
        id="look_up", name="look_up", arguments={"what": what}, idempotency_key=key_of(session_id, "look_up")
    )
    writes = tuple(
        RequestedCall(id=kind, name=kind, arguments={"what": found}, idempotency_key=key_of(session_id, kind))
        for kind in KINDS
    )
    calls = (read, *writes)
    names = tuple(call.name for call in calls)
    return ToolsRequested(round=_ROUND, calls=calls, allowed=names, deadline=utc_now() + timedelta(hours=12))


def key_of(session_id: str, call_id: str) -> str:
    return idempotency_key(DEFAULT_TENANT, session_id, _ROUND, call_id)


def _session_of(key: str) -> str:
    return key.split("/")[1]


@contextlib.contextmanager
def writers() -> Iterator[Writers]:
    """Run the service and two dispatchers for the length of a block."""
    folder = Path(tempfile.mkdtemp(prefix="antiphon-writes-"))
    try:
        with running() as redis_server, service(folder / "service", WAIT_S, LATE_S) as port:
            two = Writers(redis_server.url, port, folder)
            try:
                two.start(*NAMES)
                two.wait_until_ready()
                yield two
            finally:
                two.stop()
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def service(file: Path, hold_s: float, late_s: float) -> Iterator[int]:
    """Yield the port of a service with its records in `file`; see write_service.py."""
    command = [sys.executable, "-m", "tests.chaos.write_service", str(file), str(hold_s), str(late_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()
