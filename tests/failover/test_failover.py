"""A master dies under load: sessions continue, a replica's data is not lost, and each write has one effect."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from antiphon_shared.events.session import Response
from antiphon_shared.process.errors import AntiphonError
from redis.exceptions import RedisError

from antiphon import Antiphon
from tests.failover.pipeline import WRITES_OF_A_SESSION, Writing, writing
from tests.failover.servers import NEVER_ALONE, cluster, watched

pytestmark = [pytest.mark.chaos, pytest.mark.long]

SESSIONS = int(os.environ.get("CHAOS_FAILOVER_SESSIONS", "24"))
OPEN_MAX = 6
KILL_AFTER = SESSIONS // 3
"""Sessions that are answered before the master is killed."""
SUBMIT_AGAIN_S = 20.0
WAITED = {"ANTIPHON_BUS_WAIT_REPLICAS": "1", "ANTIPHON_BUS_WAIT_REPLICAS_TIMEOUT_S": "2"}


async def answered(client: Antiphon, session_id: str) -> Response:
    """Return its answer; submit the query again if Redis has lost it, as one id is one session."""
    while True:
        try:
            await client.submit(f"Do it for {session_id}.", session_id=session_id)
            async with asyncio.timeout(SUBMIT_AGAIN_S):
                return await client.result(session_id)
        except (AntiphonError, RedisError, TimeoutError):
            await asyncio.sleep(0.1)


async def under_load(five: Writing, url: str, disaster: Callable[[], Awaitable[Any]]) -> list[Response]:
    """Submit sessions during the failures; return all of their answers."""
    responses: list[Response] = []
    places, ended = asyncio.Semaphore(OPEN_MAX), asyncio.Semaphore(0)

    async def one(client: Antiphon, session_id: str) -> None:
        async with places:
            responses.append(await answered(client, session_id))
            ended.release()

    async def strike() -> None:
        for _ in range(KILL_AFTER):
            await ended.acquire()
        await disaster()

    async with Antiphon(url, partitions=five.keys.partitions) as client, asyncio.timeout(240):
        await asyncio.gather(strike(), *(one(client, f"s{n}") for n in range(SESSIONS)))
    return responses


def assert_all_single(five: Writing, responses: list[Response]) -> None:
    """Check that each session is answered, and that each write has its reported effect, or none if not begun."""
    assert len({response.session_id for response in responses}) == SESSIONS
    assert {(response.status, response.termination_reason) for response in responses} == {
        ("complete", "natural_completion")
    }
    effects = five.effects()
    assert set(effects.values()) == {1}
    results = [result for n in range(SESSIONS) for result in five.results(f"s{n}")]
    assert len(results) == SESSIONS * WRITES_OF_A_SESSION
    refused = [result["error"] for result in results if result["status"] == "error"]
    assert all("was not run" in error["message"] for error in refused), refused
    assert sum(effects.values()) == len(results) - len(refused)
    assert len(refused) < len(results) // 2


def test_a_master_killed_under_load_is_followed_through_sentinels_and_writes_stay_single() -> None:
    with watched(*NEVER_ALONE) as servers, writing(servers, WAITED) as five:

        async def kill_the_master() -> None:
            servers.master.kill()
            await asyncio.to_thread(servers.until_promoted)
            # The setting asks for a replica: the old master comes back as one.
            await asyncio.to_thread(servers.master.start)

        responses = asyncio.run(under_load(five, servers.url, kill_the_master))
        assert_all_single(five, responses)


def test_in_a_cluster_of_six_nodes_a_master_killed_under_load_is_followed_and_writes_stay_single() -> None:
    with cluster() as servers, writing(servers, WAITED) as five:
        master, replica = servers.pair_of(five.keys.inbox(0, "coordinator"))

        async def kill_a_master() -> None:
            master.kill()
            await asyncio.to_thread(servers.until_promoted, replica)
            await asyncio.to_thread(master.start)

        responses = asyncio.run(under_load(five, servers.url, kill_a_master))
        assert_all_single(five, responses)


def test_no_write_begins_with_too_few_replicas_and_the_session_is_answered() -> None:
    with watched() as servers, writing(servers, {**WAITED, "ANTIPHON_BUS_WAIT_REPLICAS": "2"}) as five:
        five.submit("Do it.", session_id="s1")
        assert five.response_to("s1").termination_reason == "natural_completion"
        errors = [result["error"] for result in five.results("s1")]
        assert len(errors) == WRITES_OF_A_SESSION
        assert all("was not run: Redis's replicas are behind" in error["message"] for error in errors), errors
        assert not five.effects()
