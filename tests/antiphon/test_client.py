"""The client against embedded pipelines, a pipeline of processes, and Redis alone."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
import redis
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import Signer
from antiphon_shared.events import Event, QuerySubmitted, ToolsRequested
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.health import beat, workers
from antiphon_shared.process.runner import run_service
from antiphon_shared.process.settings import BusSettings

import coordinator.component
from antiphon import (
    Antiphon,
    AntiphonError,
    ConfigurationError,
    InvalidQuery,
    RedisUnavailable,
    StillRunning,
    SubmissionRejected,
    TextDelta,
    UnknownSession,
    tool,
)
from antiphon.recording.session_lines import session_lines
from antiphon.replay.verify import verify_lines
from tests.antiphon.conftest import QUESTION
from tests.bus.builders import eventually
from tests.redis_server import RedisServer, free_port


@tool(effect="read")
def find_recipe(query: str) -> list[dict[str, str]]:
    """Find recipes by what is in them."""
    return [{"title": "Lentil soup", "text": "Lentils, carrots and cumin, cooked for 40 minutes."}]


@tool(effect="read")
async def find_nothing(query: str) -> list[dict[str, str]]:
    """Find recipes by what is in them, slowly."""
    await asyncio.sleep(60)
    return []


@pytest.fixture(params=["redis-server", "fakeredis"])
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run embedded pipelines on fakeredis; without a PATH there is no redis-server."""
    if request.param == "fakeredis":
        monkeypatch.setenv("PATH", os.devnull)
    return str(request.param)


@asynccontextmanager
async def only_a_coordinator(url: str, namespace: str, **settings: Any) -> AsyncIterator[None]:
    """Let queries in, without any other work."""
    bus = Bus(Connections(url), Keys(namespace), BusSettings(**settings))
    await bus.open()
    stop = asyncio.Event()
    running = asyncio.create_task(run_service(bus, coordinator.component.build(bus), stop))
    try:
        yield
    finally:
        stop.set()
        await running
        await bus.close()


async def test_an_embedded_pipeline_answers_from_its_tools(storage: str) -> None:
    async with Antiphon.embedded([find_recipe], model="offline") as client:
        assert storage in client.storage
        response = await client.ask(QUESTION, max_rounds=3)
    assert response.status == "complete"
    assert "40 minutes" in response.answer
    assert [source.tool for source in response.sources] == ["find_recipe"]


async def test_a_stream_contains_every_event_from_the_query_to_the_answer(storage: str) -> None:
    async with Antiphon.embedded([find_recipe], model="offline") as client:
        session_id = await client.submit(QUESTION)
        live = [event async for event in client.stream(session_id)]
        again = [event async for event in client.stream(session_id)]
        response = await client.result(session_id)
    types = [event.type.split(".")[1:3] for event in live if isinstance(event, Event)]
    assert types[0] == ["query", "submitted"]
    assert types[-1] == ["response", "ready"]
    assert ["tools", "completed"] in types
    assert "".join(event.text for event in live if isinstance(event, TextDelta))
    assert sorted(map(repr, again)) == sorted(map(repr, live)), "a session can be followed again"
    assert response.session_id == session_id


async def test_concurrent_questions_each_get_their_own_answer() -> None:
    async with Antiphon.embedded([find_recipe], model="offline") as client:
        responses = await asyncio.gather(*(client.ask(QUESTION, session_id=f"s{n}") for n in range(20)))
    assert [response.session_id for response in responses] == [f"s{n}" for n in range(20)]


async def test_submitting_twice_under_one_id_opens_one_session() -> None:
    async with Antiphon.embedded([find_recipe], model="offline") as client:
        ids = [await client.submit(QUESTION, session_id="mine") for _ in range(2)]
        await client.result("mine")
        events = [event async for event in client.stream("mine") if isinstance(event, Event)]
    assert ids == ["mine", "mine"]
    assert [event.type for event in events].count(QuerySubmitted.type) == 1


async def test_a_cancelled_session_ends_with_an_answer() -> None:
    async with Antiphon.embedded([find_nothing], model="offline") as client:
        session_id = await client.submit(QUESTION)
        assert await client.cancel(session_id, "enough")
        response = await client.result(session_id, timeout_s=30)
        assert response.status == "cancelled"
        assert not await client.cancel(session_id), "cancelling an ended session is harmless"


async def test_the_recording_of_a_session_that_was_cancelled_while_it_ran_verifies() -> None:
    async with Antiphon.embedded([find_nothing], model="offline") as client:
        session_id = await client.submit(QUESTION)
        async with aclosing(client.stream(session_id)) as stream:
            async for event in stream:
                if isinstance(event, Event) and isinstance(event.data, ToolsRequested):
                    break
        assert await client.cancel(session_id, "enough")
        await client.result(session_id, timeout_s=30)
        lines = [line async for line in session_lines(session_id, client.open_bus())]
    report = verify_lines(lines)
    assert report.is_same, report.first


async def test_a_wait_that_ends_early_leaves_the_session_running() -> None:
    async with Antiphon.embedded([find_nothing], model="offline") as client:
        session_id = await client.submit(QUESTION)
        with pytest.raises(StillRunning, match="it continues"):
            await client.result(session_id, timeout_s=0.2)
        with pytest.raises(StillRunning):
            await client.ask(QUESTION, timeout_s=0.2)


@pytest.mark.parametrize("tools", ["a string", None, 7])
async def test_tools_that_are_no_list_are_refused(tools: Any) -> None:
    with pytest.raises(ConfigurationError, match="tools"):
        Antiphon.embedded(tools)


@pytest.mark.parametrize("one", [len, 7, None, "no.such.module", "not a name"])
async def test_an_invalid_tool_is_refused_on_entering_and_leaves_no_task(one: Any) -> None:
    with pytest.raises(ConfigurationError):
        async with Antiphon.embedded([one], model="offline"):
            raise AssertionError("not reached")
    assert len(asyncio.all_tasks()) == 1


async def test_a_model_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="model"):
        Antiphon.embedded([], model="gpt")  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "http://localhost"}, "URL"),
        ({"url": "localhost:6379"}, "URL"),
        ({"url": 6379}, "url"),
        ({"namespace": "with spaces"}, "namespace"),
        ({"namespace": "{0}"}, "namespace"),
        ({"partitions": 0}, "partitions"),
        ({"partitions": "many"}, "partitions"),
    ],
)
async def test_an_invalid_client_setting_is_named(given: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigurationError, match=field):
        async with Antiphon(**given):
            raise AssertionError("not reached")


async def test_no_redis_is_an_error_and_not_a_wait() -> None:
    with pytest.raises(RedisUnavailable):
        async with Antiphon(f"redis://127.0.0.1:{free_port()}"):
            raise AssertionError("not reached")


async def test_a_client_that_was_not_entered_explains_how_to_enter_it() -> None:
    with pytest.raises(AntiphonError, match="async with"):
        await Antiphon().submit("why?")


async def test_a_submission_with_invalid_input_is_not_sent(redis_server: RedisServer, namespace: str) -> None:
    async with Antiphon(redis_server.url, namespace=namespace) as client:
        with pytest.raises(InvalidQuery):
            await client.submit("why?", max_rounds=0)
    with redis.Redis(port=redis_server.port) as server:
        assert server.exists(f"{namespace}:queries") == 0


@pytest.mark.parametrize("session_id", ["", "no spaces", 5, None])
async def test_an_invalid_session_id_is_refused_by_every_method(
    redis_server: RedisServer, namespace: str, session_id: Any
) -> None:
    async with Antiphon(redis_server.url, namespace=namespace) as client:
        for method in (client.result, client.cancel):
            with pytest.raises(InvalidQuery, match="session_id"):
                await method(session_id)
        with pytest.raises(InvalidQuery, match="session_id"):
            await anext(client.stream(session_id))


async def test_an_unknown_session_is_reported_as_unknown(redis_server: RedisServer, namespace: str) -> None:
    async with Antiphon(redis_server.url, namespace=namespace) as client:
        for method in (client.result, client.cancel):
            with pytest.raises(UnknownSession, match="sessions list"):
                await method("nobody")
        with pytest.raises(UnknownSession):
            await anext(client.stream("nobody"))


@pytest.fixture
def no_tools_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a coordinator open sessions without waiting for a dispatcher."""
    monkeypatch.setenv("ANTIPHON_COORDINATOR_CATALOGUE_WAIT_S", "0")


async def test_any_client_can_wait_for_a_session_in_the_queue(
    redis_server: RedisServer, namespace: str
) -> None:
    async with (
        Antiphon(redis_server.url, namespace=namespace) as submitter,
        Antiphon(redis_server.url, namespace=namespace) as stranger,
    ):
        session_id = await submitter.submit("why?")
        for client in (submitter, stranger):
            with pytest.raises(StillRunning):
                await client.result(session_id, timeout_s=0.1)
        following = asyncio.create_task(anext(stranger.stream(session_id)))
        async with only_a_coordinator(redis_server.url, namespace):
            first = await following
            with pytest.raises(UnknownSession):
                await stranger.result("somebody-else")
    assert isinstance(first, Event)
    assert isinstance(first.data, QuerySubmitted)


async def test_a_rejected_submission_does_not_leave_its_sender_waiting(
    redis_server: RedisServer, namespace: str
) -> None:
    async with (
        Antiphon(redis_server.url, namespace=namespace) as client,
        only_a_coordinator(redis_server.url, namespace, max_event_bytes=10_000),
    ):
        with pytest.raises(SubmissionRejected, match="larger than 10000 bytes"):
            await client.ask("x" * 20_000)


@pytest.mark.usefixtures("no_tools_awaited")
async def test_the_sender_of_a_rejected_query_cannot_cancel_another_query_of_its_id(
    redis_server: RedisServer, namespace: str
) -> None:
    async with (
        Antiphon(redis_server.url, namespace=namespace) as first,
        Antiphon(redis_server.url, namespace=namespace) as second,
    ):
        await second.submit("x" * 20_000, session_id="s1")
        await first.submit("why?", session_id="s1")
        async with only_a_coordinator(redis_server.url, namespace, max_event_bytes=10_000):
            await anext(first.stream("s1"))  # the larger query was rejected before
            with pytest.raises(SubmissionRejected):
                await second.cancel("s1")
            events = await first.open_bus().session("s1").log()
        assert "antiphon.cancellation.requested.v1" not in {event.type for _, event in events}


async def test_a_client_without_a_key_cannot_cancel_a_query_in_the_queue_of_a_signed_pipeline(
    redis_server: RedisServer, namespace: str
) -> None:
    """The coordinator would ignore the unsigned cancellation, and the query would run."""
    signed = Bus(Connections(redis_server.url), Keys(namespace), BusSettings(), signer=Signer.of("k" * 16))
    await signed.open()

    async def is_beating() -> bool:
        return bool(await workers(signed, "coordinator"))

    beating = asyncio.create_task(beat(signed, "coordinator", "one", utc_now(), lambda: 0))
    async with Antiphon(redis_server.url, namespace=namespace) as client:
        session_id = await client.submit("why?")
        await eventually(is_beating)
        with pytest.raises(ConfigurationError, match="this process has no key"):
            await client.cancel(session_id)
        assert not await signed.batcher.submit("EXISTS", signed.keys.early_cancellation(session_id))
    beating.cancel()
    await signed.close()


@pytest.mark.usefixtures("no_tools_awaited")
async def test_a_stream_continues_after_a_lost_connection(redis_server: RedisServer, namespace: str) -> None:
    async with (
        Antiphon(redis_server.url, namespace=namespace) as client,
        only_a_coordinator(redis_server.url, namespace),
    ):
        session_id = await client.submit("why?")
        seen: list[str] = []
        async for event in client.stream(session_id):
            if isinstance(event, Event):
                seen.append(event.type)
            if len(seen) == 3:
                with redis.Redis(port=redis_server.port) as server:
                    server.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                await client.cancel(session_id)
            if len(seen) > 3:
                break
    assert len(set(seen)) == len(seen) == 4


@pytest.mark.usefixtures("no_tools_awaited")
@pytest.mark.parametrize("is_own", [True, False])
async def test_a_waiting_client_receives_an_error_when_redis_has_lost_the_session(
    redis_server: RedisServer, namespace: str, is_own: bool
) -> None:
    async with (
        Antiphon(redis_server.url, namespace=namespace) as client,
        Antiphon(redis_server.url, namespace=namespace) as another,
        only_a_coordinator(redis_server.url, namespace),
    ):
        stream = (client if is_own else another).stream(await client.submit("why?"))
        await anext(stream)
        with redis.Redis(port=redis_server.port) as server:
            server.delete(*server.scan_iter(f"{namespace}:*"))
        with pytest.raises(UnknownSession, match="is gone from Redis") as refused:
            [_ async for _ in stream]
        assert "submit the query again" in refused.value.hint


@pytest.mark.parametrize("timeout_s", ["5", float("nan"), -1, True, 10**400, [1]])
async def test_a_wait_that_has_no_length_is_refused_before_anything_is_sent(
    redis_server: RedisServer, namespace: str, timeout_s: Any
) -> None:
    async with Antiphon(redis_server.url, namespace=namespace) as antiphon:
        for refused in (antiphon.ask("Why?", timeout_s=timeout_s), antiphon.result("s1", timeout_s)):
            with pytest.raises(InvalidQuery, match="timeout_s"):
                await refused
    with redis.Redis(port=redis_server.port) as server:
        assert server.exists(f"{namespace}:queries") == 0
