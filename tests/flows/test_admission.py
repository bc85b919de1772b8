"""Tenants share the room: a flood of one does not delay the other's few, under any kills."""

import json
from collections import Counter
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from antiphon import Antiphon, Overloaded
from tests.antiphon.conftest import antiphon
from tests.flows.pipeline import HANGS, Pipeline, pipeline
from tests.flows.processes import ROOT
from tests.flows.promises import assert_each_answered_once
from tests.messages_server import Scripted
from tests.tool_dispatcher.keys import Issuer, an_issuer

SESSIONS_MAX = 8
BRIEF = [Scripted(when="Round 1 of", text="It is as it is.", repeat=True)]
"""A model that answers at once, without tools."""


@cache
def issuer() -> Issuer:
    return an_issuer(Path(mkdtemp()))


def with_grants(**options: Any) -> AbstractContextManager[Pipeline]:
    """Return a pipeline that verifies the tenants in the issuer's grants."""
    return pipeline(ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE=issuer().key_file, **options)


def submit_all(five: Pipeline, tenant: str, count: int, query: str = "How high is it?") -> None:
    grant = issuer().grant(tenant=tenant)
    for n in range(count):
        five.submit(query, session_id=f"{tenant}.{n}", grant=grant)


def answered(five: Pipeline) -> list[str]:
    """Return the tenants of the sessions that were answered, in order."""
    return [response.session_id.partition(".")[0] for response in five.responses()]


def waiting(five: Pipeline) -> int:
    return sum(five.client.hlen(five.keys.queries_waiting(p)) for p in range(five.keys.partitions))


def start_when_all_wait(five: Pipeline, count: int) -> None:
    """Start the coordinator first, so that queries wait before the other components work."""
    five.start("coordinator")
    five.until(lambda: waiting(five) == count - SESSIONS_MAX, "the queries to wait")
    five.start("reasoning_engine", "tool_dispatcher", "context_synthesizer", "response_assembler")


def test_ten_queries_are_answered_before_the_thousand_that_came_first() -> None:
    with with_grants(
        scripted=BRIEF, is_started=False, ANTIPHON_BUS_MAX_OPEN_SESSIONS=str(SESSIONS_MAX)
    ) as five:
        submit_all(five, "big", 1_000)
        submit_all(five, "small", 10)
        start_when_all_wait(five, 1_010)
        five.until(lambda: answered(five).count("small") == 10, "the ten to be answered")
        order = answered(five)
    last = max(n for n, tenant in enumerate(order) if tenant == "small")
    # The sessions that were open before, that took turns with the ten, and that were open with the last.
    assert order[:last].count("big") <= SESSIONS_MAX + 10 + SESSIONS_MAX


def test_weights_are_turns() -> None:
    with with_grants(
        scripted=BRIEF,
        is_started=False,
        ANTIPHON_BUS_MAX_OPEN_SESSIONS=str(SESSIONS_MAX),
        ANTIPHON_COORDINATOR_TENANT_WEIGHTS="gold=4",
    ) as five:
        submit_all(five, "plain", 100)
        submit_all(five, "gold", 100)
        start_when_all_wait(five, 200)
        five.until(lambda: answered(five).count("gold") == 100, "the golden hundred to be answered")
        order = answered(five)
    last = max(n for n, tenant in enumerate(order) if tenant == "gold")
    plain = order[:last].count("plain")
    assert 25 - SESSIONS_MAX <= plain <= SESSIONS_MAX + 25 + SESSIONS_MAX, plain


@pytest.mark.parametrize("partitions", [1, 3])
def test_killing_coordinators_while_queries_wait_loses_and_duplicates_none(partitions: int) -> None:
    with with_grants(
        partitions=partitions,
        is_started=False,
        ANTIPHON_BUS_MAX_OPEN_SESSIONS="2",
        ANTIPHON_BUS_LEASE_S="1",
    ) as five:
        submit_all(five, "big", 30)
        submit_all(five, "small", 10)
        names = ("coordinator", "coordinator-2")
        five.start(*names, "reasoning_engine", "tool_dispatcher", "context_synthesizer", "response_assembler")
        more = 0

        def do_some_wait() -> bool:
            nonlocal more
            if waiting(five) == 0:  # the test was slower than the pipeline
                more += 10
                submit_all(five, f"more-{more}", 10)
            return waiting(five) > 0

        for n in range(4):
            five.wait_for_responses(5 * (n + 1))
            name, other = names[n % 2], names[1 - n % 2]
            five.hold_when(do_some_wait, "queries to wait", *names)
            five.kill(name)
            five.start(name)
            five.let_go(other)
        five.wait_for_responses(40 + more)
        five.wait_until_idle()
        assert_each_answered_once(five.responses(), five.session_ids())
        counts = Counter(answered(five))
        assert (counts["big"], counts["small"], counts.total()) == (30, 10, 40 + more)


def test_a_query_whose_deadline_passes_while_it_waits_is_answered() -> None:
    with with_grants(ANTIPHON_BUS_MAX_OPEN_SESSIONS="1") as five:
        five.submit(HANGS, session_id="first")
        five.until(lambda: five.model.under_way() == 1, "the model hangs")
        five.submit("Will it be told?", session_id="second", options='{"deadline_s": 1}')
        response = five.response_to("second")
        assert response.termination_reason == "deadline_exceeded"
        assert five.session_ids() == ["first", "second"]


async def test_a_query_that_waits_is_shown_and_ends_when_it_is_cancelled() -> None:
    with with_grants(ANTIPHON_BUS_MAX_OPEN_SESSIONS="1") as five:
        here = {"ANTIPHON_REDIS_URL": five.redis.url}
        five.submit(HANGS, session_id="first")
        five.until(lambda: five.model.under_way() == 1, "the model hangs")
        submit_all(five, "acme", 2, HANGS)
        five.until(lambda: waiting(five) == 2, "the two to wait")
        listed = json.loads(antiphon("sessions", "list", "--json", cwd=ROOT, **here).stdout)
        assert {one["session_id"]: one["status"] for one in listed} == {
            "first": "open",
            "acme.0": "queued",
            "acme.1": "queued",
        }
        shown = antiphon("sessions", "show", "acme.1", cwd=ROOT, **here)
        assert "one of 2 of tenant acme" in shown.stderr
        assert "waiting for capacity 2 (acme 2)" in antiphon("status", cwd=ROOT, **here).stdout
        async with Antiphon(five.redis.url) as client:
            assert await client.cancel("acme.1")
            response = await client.result("acme.1", timeout_s=30)
        assert (response.status, response.termination_reason) == ("cancelled", "cancelled")
        assert waiting(five) == 1, "the other one waits on"


async def test_a_client_receives_an_error_when_too_many_wait() -> None:
    with with_grants(ANTIPHON_BUS_MAX_OPEN_SESSIONS="1", ANTIPHON_BUS_MAX_WAITING_SESSIONS="1") as five:
        five.submit(HANGS, session_id="first")
        five.until(lambda: five.model.under_way() == 1, "the model hangs")
        five.submit("Is there room?", session_id="second")
        five.until(lambda: waiting(five) == 1, "the second to wait")
        async with Antiphon(five.redis.url) as client:
            with pytest.raises(
                Overloaded, match=r"1 queries are already waiting.*Submit it again later"
            ) as refused:
                await client.ask("Is there room for me?", timeout_s=30)
        assert refused.value.retryable
        asked = antiphon("ask", "Is there room for me?", cwd=ROOT, ANTIPHON_REDIS_URL=five.redis.url)
        assert (asked.returncode, asked.stdout) == (1, ""), "the same may be accepted later"
        assert "1 queries are already waiting" in asked.stderr
