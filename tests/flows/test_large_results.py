"""A large or slow result of one call does not cost another its lease."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from antiphon_shared.events import ToolsRequested, encode
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import idempotency_key
from antiphon_shared.process.watchdog import EXIT_STUCK
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.values import DEFAULT_TENANT

from tests.envelopes import an_event
from tests.flows.large_tools import many_rows
from tests.flows.processes import Processes
from tests.redis_server import running
from tool_dispatcher.results.as_json import as_json

WRITES = 10


class Dispatchers(Processes):
    """Dispatchers as processes; the test is their coordinator."""

    def __init__(self, url: str, folder: Path, lease_s: float) -> None:
        self.own = folder
        super().__init__(
            url,
            ANTIPHON_TOOLS="tests.flows.large_tools",
            ANTIPHON_BUS_LEASE_S=str(lease_s),
            ANTIPHON_BUS_MAX_DELIVERIES="100",
            ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES="read,write",
            ANTIPHON_TOOL_DISPATCHER_STORED_RESULT_BYTES_MAX="100000000",
            ANTIPHON_LOG_LEVEL="warning",
            LARGE_FOLDER=str(folder),
        )

    def begin(self, session_id: str, name: str, count: int = 1, **arguments: str) -> None:
        """Begin a batch of calls, and return when they have begun."""
        ids = [f"c{n}" for n in range(count)]
        calls = tuple(
            RequestedCall(
                id=id,
                name=name,
                arguments={key: f"{value} {id}" for key, value in arguments.items()},
                idempotency_key=idempotency_key(DEFAULT_TENANT, session_id, 1, id),
            )
            for id in ids
        )
        deadline = utc_now() + timedelta(hours=1)
        event = an_event(ToolsRequested(round=1, calls=calls, allowed=(name,), deadline=deadline), session_id)
        fields: dict[str, str | bytes] = {"event": encode(event), "log": "1-1"}
        self.add(self.keys.inbox(0, "tool_dispatcher"), fields)
        begun = [self.own / f"begun-{session_id}-{id}" for id in ids]
        self.until(lambda: all(file.exists() for file in begun), f"{name} to begin")

    def let(self, name: str) -> None:
        (self.own / f"{name}-may-go").touch()

    def answer(self, session_id: str) -> list[dict[str, Any]]:
        """Wait for the results of a session's batch."""
        self.until(lambda: bool(self.results(session_id)), f"the results of {session_id}")
        return self.results(session_id)


@contextmanager
def dispatchers(lease_s: float) -> Iterator[Dispatchers]:
    folder = Path(tempfile.mkdtemp(prefix="antiphon-large-"))
    try:
        with running() as server:
            two = Dispatchers(server.url, folder, lease_s)
            try:
                two.start("tool_dispatcher")
                two.wait_until_ready()
                yield two
            finally:
                two.stop()
    finally:
        shutil.rmtree(folder)


def time_to_convert() -> float:
    """Return how long this machine takes at present to convert the rows in one go."""
    rows, began = many_rows(), time.monotonic()
    as_json(rows)
    return time.monotonic() - began


def test_writes_keep_their_leases_during_a_result_of_200_000_rows() -> None:
    """The leases are shorter than the conversion takes: on the loop it would cost all of them theirs."""
    with dispatchers(lease_s=max(0.4, time_to_convert() / 2)) as two:
        two.begin("writing", "write_slowly", WRITES, what="a thing")
        two.begin("listing", "list_rows")
        two.start("tool_dispatcher-2")  # which would reclaim work whose lease is not renewed
        two.wait_until_ready("tool_dispatcher-2")
        two.let("list_rows")
        (listed,) = two.answer("listing")
        assert listed["status"] == "ok", listed
        two.let("write_slowly")
        written = two.answer("writing")
        assert [result["status"] for result in written] == ["ok"] * WRITES, written


def test_a_process_with_a_stuck_event_loop_loses_its_leases_and_exits() -> None:
    with dispatchers(lease_s=1.0) as two:
        two.begin("writing", "write_slowly", WRITES, what="a thing")
        two.begin("hanging", "hang")
        two.start("tool_dispatcher-2")
        two.wait_until_ready("tool_dispatcher-2")
        two.let("hang")
        errors = [result["error"] for result in two.answer("writing")]
        assert [error["error_type"] for error in errors] == ["outcome_unknown"] * WRITES
        assert two.running["tool_dispatcher"].wait(timeout=60) == EXIT_STUCK
