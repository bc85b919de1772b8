"""A person decides on calls that wait, through the client and the command line; the test plays the other components."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
import pytest
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.handling import STATE
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import (
    ApprovalDecided,
    ApprovalRequested,
    AssemblyRequested,
    BriefingRequested,
    ChildBegun,
    EventData,
    ReasoningRequested,
    ToolsRequested,
)
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.runner import run_service
from antiphon_shared.process.settings import BusSettings

import coordinator.component
from antiphon import Antiphon, InvalidQuery, TooLate, UnknownSession, confirmation
from antiphon.cli.dialogue import Dialogue
from antiphon.errors import NotWaiting
from antiphon.observe import recent_sessions
from coordinator.settings import CoordinatorSettings
from tests.antiphon.conftest import InProcess
from tests.coordinator.builders import a_briefing, a_call, a_catalogue, a_reply, a_result, a_tool, the_results
from tests.envelopes import an_event
from tests.memories import an_error
from tests.redis_server import RedisServer

TOOLS = a_catalogue(a_tool("book", "write", approval="always"), "search")
LIMIT_S = 60.0
DataT = TypeVar("DataT", bound=EventData)


@dataclass
class CoordinatorCase:
    """A coordinator on a real Redis, a client, and the other components played by the test."""

    bus: Bus
    client: Antiphon
    environment: dict[str, str]
    coordinator: asyncio.Task[None]
    stop: asyncio.Event
    """Ends the coordinator."""

    async def data_of(self, kind: type[DataT], session_id: str = "s1") -> DataT:
        """Return the last event of a kind in the session's log, once there is one."""
        event = await self.found(kind, session_id)
        assert isinstance(event.data, kind)
        return event.data

    async def found(self, kind: type[EventData], session_id: str = "s1") -> Any:
        async with asyncio.timeout(LIMIT_S):
            while True:
                log = await self.bus.session(session_id).log()
                if found := [event for _, event in log if isinstance(event.data, kind)]:
                    return found[-1]
                await asyncio.sleep(0.01)

    async def answer(self, kind: type[EventData], data: EventData, session_id: str = "s1") -> None:
        """Play the component that `kind` asks."""
        asked = await self.found(kind, session_id)
        event = an_event(data, session_id, answers=asked.id)
        # How long a person is waited for counts from when the model has asked.
        await self.bus.publish(event.model_copy(update={"time": utc_now()}), "signal")

    async def a_waiting_session(self, session_id: str = "s1", **options: Any) -> None:
        await self.client.submit("Book it.", session_id=session_id, **options)
        await self.answer(BriefingRequested, a_briefing(), session_id)
        calls = [a_call("search", "c0"), *(a_call("book", f"c{n}", arguments={"room": n}) for n in (1, 2))]
        await self.answer(ReasoningRequested, a_reply("I book.", calls), session_id)
        await self.data_of(ApprovalRequested, session_id)

    async def has(self, session_id: str, kind: type[EventData], round: int) -> bool:
        log = await self.bus.session(session_id).log()
        return any(
            isinstance(event.data, kind) and getattr(event.data, "round", 0) == round for _, event in log
        )


async def a_round_that_waits(case: CoordinatorCase, round: int) -> None:
    await case.answer(BriefingRequested, a_briefing(round=round))
    call = a_call("book", "c1", arguments={"room": round})
    await case.answer(ReasoningRequested, a_reply("I book.", [call], round=round))
    await until(lambda: case.has("s1", ApprovalRequested, round))


@pytest.fixture
async def case(redis_server: RedisServer, namespace: str) -> AsyncIterator[CoordinatorCase]:
    async with a_coordinator_case(redis_server.url, namespace) as case:
        yield case


@asynccontextmanager
async def a_coordinator_case(url: str, namespace: str) -> AsyncIterator[CoordinatorCase]:
    bus = Bus(Connections(url), Keys(namespace), BusSettings())
    await bus.open()
    await bus.publish_catalogue(TOOLS)
    stop = asyncio.Event()
    settings = CoordinatorSettings(catalogue_wait_s=0)  # no dispatcher runs here
    running = asyncio.create_task(run_service(bus, coordinator.component.build(bus, settings), stop))
    environment = {"ANTIPHON_REDIS_URL": url, "ANTIPHON_NAMESPACE": namespace}
    try:
        async with Antiphon(url, namespace=namespace) as client:
            yield CoordinatorCase(bus, client, environment, running, stop)
    finally:
        stop.set()
        await running
        await bus.close()


async def test_the_later_of_two_concurrent_decisions_is_refused_as_too_late(case: CoordinatorCase) -> None:
    for session_id in ("s1", "s2", "s3"):
        await case.a_waiting_session(session_id)
        approved, denied = await asyncio.gather(
            case.client.approve(session_id, by="Ann"),
            case.client.deny(session_id, by="Bob"),
            return_exceptions=True,
        )
        books = (await case.data_of(ToolsRequested, session_id)).calls[1:]
        is_approved = all(call.approval is not None for call in books)
        late, first = (denied, approved) if is_approved else (approved, denied)
        assert first == ("c1", "c2")
        assert isinstance(late, TooLate)
        assert f"{'Ann approved' if is_approved else 'Bob denied'} c1 first" in str(late)


async def test_a_decision_that_no_coordinator_reads_is_unconfirmed(
    case: CoordinatorCase, run: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def antiphon(*arguments: str) -> Any:
        return await asyncio.to_thread(run, "sessions", *arguments, **case.environment)

    await case.a_waiting_session()
    case.stop.set()
    await case.coordinator
    monkeypatch.setattr(confirmation, "READ_S", 0.1)
    sent = await case.client.approve("s1", ["c1"], by="Ann")
    assert (sent, sent.is_confirmed) == (("c1",), False)
    shown = await antiphon("deny", "s1", "--call", "c2")
    assert (shown.exit_code, shown.stdout) == (4, "Sent the denial of c2 of s1; not confirmed.\n")
    assert "no coordinator has read it within 0.1 s" in shown.stderr
    shown = await antiphon("approve", "s1", "--call", "c1", "--json")
    assert (shown.exit_code, orjson.loads(shown.stdout)["is_confirmed"]) == (4, False)


async def test_a_late_decision_names_the_first_decider_of_the_same_round_only(case: CoordinatorCase) -> None:
    await case.client.submit("Book it.", session_id="s1")
    await a_round_that_waits(case, 1)
    await case.client.deny("s1", by="Ann")
    denied = a_result("book", call_id="c1", status="error", error=an_error("permission_denied"))
    await case.answer(ToolsRequested, the_results(denied))
    await until(lambda: case.has("s1", BriefingRequested, round=2))
    await a_round_that_waits(case, 2)
    both = case.client.deny("s1", by="Carl"), case.client.approve("s1", by="Bob")
    first, late = await asyncio.gather(*both, return_exceptions=True)
    if isinstance(first, TooLate):
        first, late = late, first
    assert first == ("c1",)
    assert isinstance(late, TooLate)
    assert "Ann" not in str(late)


async def test_an_approval_counts_though_a_second_call_of_its_id_is_refused(case: CoordinatorCase) -> None:
    await case.client.submit("Book it.", session_id="s1", max_tool_calls=1)
    await case.answer(BriefingRequested, a_briefing())
    calls = [a_call("book", "c1", arguments={"room": room}) for room in (1, 2)]
    await case.answer(ReasoningRequested, a_reply("I book.", calls))
    await case.data_of(ApprovalRequested)
    assert await case.client.approve("s1", by="Ann") == ("c1",)
    first, second = (await case.data_of(ToolsRequested)).calls
    assert (first.refused, second.approval) == (None, None)


async def test_the_approval_of_a_call_that_begins_a_workflow_counts(case: CoordinatorCase) -> None:
    workflow = a_tool("w_trip", "write", approval="always").model_copy(update={"workflow": "0" * 32})
    await case.bus.publish_catalogue(a_catalogue(workflow, "search"))
    await case.client.submit("Book it.", session_id="s1")
    await case.answer(BriefingRequested, a_briefing())
    await case.answer(ReasoningRequested, a_reply("I book.", [a_call("w_trip", "c1", arguments={"a": 1})]))
    await case.data_of(ApprovalRequested)
    assert await case.client.approve("s1", by="Ann") == ("c1",)
    assert (await case.data_of(ChildBegun)).call_id == "c1"


async def test_a_session_is_shown_though_a_foreign_client_wrote_to_its_log(
    case: CoordinatorCase, run: InProcess
) -> None:
    await case.a_waiting_session()
    log = case.bus.keys.log("s1")
    await case.bus.batcher.submit("XADD", log, "300000000000000-0", "x", "y")
    await case.bus.batcher.submit("XADD", case.bus.keys.rejected(), "300000000000000-0", "x", "y")
    assert await case.client.approve("s1", by="Ann") == ("c1", "c2")
    shown = await asyncio.to_thread(run, "sessions", "show", "s1", **case.environment)
    assert (shown.exit_code, "approved by Ann" in shown.stdout) == (0, True), shown.stderr
    status = await asyncio.to_thread(run, "status", **case.environment)
    assert (status.exit_code, "newest rejection: " in status.stdout) == (0, True), status.stderr


async def test_a_person_at_a_terminal_learns_that_the_decision_came_too_late(
    case: CoordinatorCase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The batch goes out, and ends the asking, while the decision is on its way."""
    await case.a_waiting_session()
    is_sent, goes_out = asyncio.Event(), asyncio.Event()

    async def approve(*_: Any) -> None:
        is_sent.set()
        await goes_out.wait()
        raise TooLate("Zoe denied c1 first.")

    async def typed(_: str) -> str:
        return "y"

    dialogue = Dialogue(case.client)
    monkeypatch.setattr(case.client, "approve", approve)
    monkeypatch.setattr(dialogue, "_typed", typed)
    dialogue.hear(await case.found(ApprovalRequested))
    await is_sent.wait()
    dialogue.stop()
    goes_out.set()
    await until(lambda: asyncio.sleep(0, not dialogue.is_asking))
    assert "Zoe denied c1 first." in capsys.readouterr().err


async def test_a_decision_on_some_calls_does_not_wait_for_the_others(case: CoordinatorCase) -> None:
    await case.a_waiting_session()
    denied = await case.client.deny("s1", ["c1"], by="Bob")
    assert (denied, denied.is_confirmed) == (("c1",), True)
    assert await case.client.approve("s1", ["c2"], by="Ann") == ("c2",)
    first, second = (await case.data_of(ToolsRequested)).calls[1:]
    assert (first.approval, second.refused) == (None, None)


async def test_approved_calls_are_sent_with_the_entry_of_the_decision(case: CoordinatorCase) -> None:
    await case.a_waiting_session()
    assert await case.client.approve("s1", by="Ann", reason="It is due.") == ("c1", "c2")
    search, *books = (await case.data_of(ToolsRequested)).calls
    assert search.approval is None
    places = {
        place for place, event in await case.bus.session("s1").log() if event.type == ApprovalDecided.type
    }
    assert {book.approval for book in books} == places
    decided = await case.data_of(ApprovalDecided)
    assert (decided.calls, decided.by, decided.reason) == (("c1", "c2"), "Ann", "It is due.")


async def test_denied_calls_are_refused_with_the_person_and_the_reason(case: CoordinatorCase) -> None:
    await case.a_waiting_session()
    assert await case.client.deny("s1", ["c2"], by="Ann", reason="Taken.") == ("c2",)
    assert await case.client.approve("s1") == ("c1",), "those that still wait"
    refusals = [call.refused for call in (await case.data_of(ToolsRequested)).calls]
    assert refusals == [None, None, "Ann denied it: Taken"]


async def test_a_call_that_does_not_wait_is_refused_with_the_waiting_ones(case: CoordinatorCase) -> None:
    await case.a_waiting_session()
    for calls in (["c9"], ["c1", "c0"], [7], [["c1"]]):
        with pytest.raises(InvalidQuery, match=r"Waiting calls: c1 \(book\), c2 \(book\)"):
            await case.client.approve("s1", calls)  # type: ignore[arg-type]  # bad input is the point
    for no_list in ("c1", None, 5):
        with pytest.raises(InvalidQuery, match="a list of call ids"):
            await case.client.deny("s1", no_list)  # type: ignore[arg-type]  # the same
    for words in ({"by": "x" * 201}, {"reason": "x" * 1_001}, {"by": 7}, {"reason": "\ud800"}):
        with pytest.raises(InvalidQuery):
            await case.client.approve("s1", **words)
    types = [event.type for _, event in await case.bus.session("s1").log()]
    assert ApprovalDecided.type not in types, "nothing was sent"


async def test_a_session_that_waits_for_no_person_is_reported_as_busy(case: CoordinatorCase) -> None:
    await case.client.submit("Why?", session_id="s1")
    await case.data_of(BriefingRequested)
    with pytest.raises(NotWaiting, match="its briefing for round 1"):
        await case.client.approve("s1")
    await case.answer(BriefingRequested, a_briefing())
    await case.data_of(ReasoningRequested)
    with pytest.raises(NotWaiting, match="the model is replying in round 1"):
        await case.client.deny("s1")
    await case.client.cancel("s1")
    await case.data_of(AssemblyRequested)
    with pytest.raises(NotWaiting, match="its answer is being assembled"):
        await case.client.approve("s1")
    with pytest.raises(UnknownSession, match="sessions list"):
        await case.client.approve("nobody")
    with pytest.raises(InvalidQuery, match="session_id"):
        await case.client.approve("no spaces")


async def test_an_approval_of_a_queued_submission_is_refused(
    redis_server: RedisServer, namespace: str
) -> None:
    async with Antiphon(redis_server.url, namespace=namespace) as client:
        await client.submit("Why?", session_id="s1")
        with pytest.raises(NotWaiting, match="it is still queued"):
            await client.approve("s1")


async def test_a_session_that_ends_while_waiting_names_the_waiting_calls(case: CoordinatorCase) -> None:
    await case.a_waiting_session()
    await case.client.cancel("s1")
    (uncertainty,) = (await case.data_of(AssemblyRequested)).uncertainty
    assert (uncertainty.kind, uncertainty.about) == ("approval_missing", "c1, c2")


async def test_waiting_sessions_are_listed_with_their_waiting_calls(case: CoordinatorCase) -> None:
    await case.a_waiting_session()
    (listed,) = await recent_sessions(case.bus, 5)
    assert (listed.status, listed.waits_for) == ("waiting", ("book (c1)", "book (c2)"))
    await case.client.approve("s1", ["c1"])

    async def is_half_decided() -> bool:
        return (await recent_sessions(case.bus, 5))[0].waits_for == ("book (c2)",)

    await until(is_half_decided)
    await case.client.approve("s1")
    await case.data_of(ToolsRequested)
    assert (await recent_sessions(case.bus, 5))[0].status == "open"


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not await condition():  # noqa: ASYNC110  # Redis sets no Event
            await asyncio.sleep(0.01)


async def test_the_command_line_shows_the_waiting_calls_and_accepts_the_decision(
    case: CoordinatorCase, run: InProcess
) -> None:
    async def antiphon(*arguments: str) -> Any:
        return await asyncio.to_thread(run, *arguments, **case.environment)

    await case.a_waiting_session()
    listed = await antiphon("sessions", "list")
    assert "waiting for approval of book (c1), book (c2)" in listed.stdout
    shown = await antiphon("sessions", "show", "s1")
    assert "waits for approval: book(room=1) [c1]: every call of book has to be approved" in shown.stdout
    assert "Waits for approval of book [c1], book [c2]" in shown.stderr
    assert "antiphon sessions approve s1" in shown.stderr

    unknown = await antiphon("sessions", "approve", "s1", "--call", "c9")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "Waiting calls: c1 (book), c2 (book)." in unknown.stderr
    denied = await antiphon(
        "sessions", "deny", "s1", "--call", "c2", "--by", "ann", "--reason", "No.", "--json"
    )
    assert orjson.loads(denied.stdout) == {
        "session_id": "s1",
        "is_approved": False,
        "calls": ["c2"],
        "is_confirmed": True,
    }
    approved = await antiphon("sessions", "approve", "s1", "--call", "c1")
    assert (approved.exit_code, approved.stdout) == (0, "Approved c1 of s1.\n")
    assert [call.refused for call in (await case.data_of(ToolsRequested)).calls] == [
        None,
        None,
        "ann denied it: No",
    ]

    late = await antiphon("sessions", "deny", "s1")
    assert (late.exit_code, late.stdout) == (1, "")
    assert "session s1 has no pending approval: its tool calls of round 1 are running" in late.stderr
    history = (await antiphon("sessions", "show", "s1")).stdout
    assert "denied by ann: c2 (No.)" in history
    assert "approved: c1" in history


async def test_a_batch_that_is_out_leaves_the_sessions_document(case: CoordinatorCase) -> None:
    await case.a_waiting_session()
    await case.client.approve("s1")
    await case.data_of(ToolsRequested)
    _, content = await case.bus.session("s1").document(STATE)
    assert b"pending" not in (content or b"")
