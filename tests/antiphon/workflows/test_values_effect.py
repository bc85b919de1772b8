"""The values that a person gives a run: here no coordinator reads them."""

import asyncio
import json

import pytest
import redis
from antiphon_shared.bus.keys import Keys

from antiphon import Antiphon, confirmation, workflows
from tests.antiphon.cli.workflows.hostile_run import RUN_ID, put_run
from tests.antiphon.conftest import InProcess
from tests.redis_server import RedisServer


async def test_values_that_no_coordinator_reads_are_unconfirmed(
    redis_server: RedisServer, namespace: str, run: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_run(redis.Redis.from_url(redis_server.url, protocol=3), Keys(namespace), "x")
    monkeypatch.setattr(confirmation, "READ_S", 0.1)
    async with Antiphon(redis_server.url, namespace=namespace) as client:
        given = await workflows.give(client, RUN_ID, {"a": "x", "x": "y"})
    assert (given, given.is_confirmed, given.refused) == ("qx", False, "")
    variables = {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": namespace}
    words = ("workflows", "runs", "answer", RUN_ID, "a=x", "x=y")
    shown = await asyncio.to_thread(run, *words, **variables)
    sent = f"Sent the values for qx of {RUN_ID}; not confirmed.\n"
    assert (shown.exit_code, shown.stdout) == (4, sent), shown.stderr
    shown = await asyncio.to_thread(run, *words, "--json", **variables)
    assert (shown.exit_code, json.loads(shown.stdout)["is_accepted"]) == (4, None)
