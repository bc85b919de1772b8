"""The floor: the same messages, in the same sizes, through the same streams, by bare redis-py.

Five processes read their streams and pass each message on; nothing is validated, decided, logged or fenced.
"""

import asyncio
import multiprocessing
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from redis.asyncio import Redis

BATCH = 64


@dataclass(frozen=True)
class Hop:
    """One message on its way: who reads it, and how large it is."""

    process: str
    stream: str
    size_bytes: int


def measure(port: int, hops: list[Hop], sessions: int, in_flight: int) -> float:
    """Return sessions per second through all hops, with `in_flight` of them at once."""
    context = multiprocessing.get_context("spawn")
    names = sorted({hop.process for hop in hops})
    ready = context.Barrier(len(names) + 1)
    relays = [context.Process(target=_relay, args=(port, name, hops, ready), daemon=True) for name in names]
    for relay in relays:
        relay.start()
    try:
        ready.wait(timeout=60)
        return asyncio.run(_drive(port, hops, sessions, in_flight))
    finally:
        for relay in relays:
            relay.kill()
            relay.join()


def _relay(port: int, name: str, hops: list[Hop], ready: Any) -> None:
    asyncio.run(_relay_forever(port, name, hops, ready))


async def _relay_forever(port: int, name: str, hops: list[Hop], ready: Any) -> None:
    streams: dict[str, dict[bytes, tuple[str, bytes, bytes]]] = defaultdict(dict)
    for n, (hop, following) in enumerate(pairwise([*hops, Hop("", "floor:done", 1)])):
        if hop.process == name:
            payload = b"x" * following.size_bytes
            streams[hop.stream][b"%d" % n] = (following.stream, b"%d" % (n + 1), payload)
    clients = [Redis(port=port, protocol=3, legacy_responses=False) for _ in streams]
    for client, stream in zip(clients, streams, strict=True):
        await client.xgroup_create(stream, "g", "0", mkstream=True)
    ready.wait()
    await asyncio.gather(
        *(
            _pass_on(client, stream, table)
            for client, (stream, table) in zip(clients, streams.items(), strict=True)
        )
    )


async def _pass_on(client: Any, stream: str, table: dict[bytes, tuple[str, bytes, bytes]]) -> None:
    while True:
        reply = await client.execute_command(
            "XREADGROUP", "GROUP", "g", "c", "COUNT", BATCH, "BLOCK", 1000, "STREAMS", stream, ">"
        )
        if not reply:
            continue
        (entries,) = reply.values()
        pipeline = client.pipeline(transaction=False)
        for entry, fields in entries:
            target, n, payload = table[fields[b"hop"]]
            pipeline.execute_command("XADD", target, "*", "hop", n, "event", payload)
            pipeline.execute_command("XACK", stream, "g", entry)
            pipeline.execute_command("XDEL", stream, entry)
        await pipeline.execute()


async def _drive(port: int, hops: list[Hop], sessions: int, in_flight: int) -> float:
    client: Any  # the library's stubs leave execute_command untyped
    async with Redis(port=port, protocol=3, legacy_responses=False) as client:
        payload = b"x" * hops[0].size_bytes
        sent = done = 0
        last = "0"
        started = time.perf_counter()
        while done < sessions:
            pipeline = client.pipeline(transaction=False)
            for _ in range(min(in_flight - (sent - done), sessions - sent)):
                pipeline.execute_command("XADD", hops[0].stream, "*", "hop", 0, "event", payload)
                sent += 1
            await pipeline.execute()
            reply = await client.execute_command(
                "XREAD", "COUNT", 1000, "BLOCK", 1000, "STREAMS", "floor:done", last
            )
            for entries in (reply or {}).values():
                done += len(entries)
                last = entries[-1][0]
        return sessions / (time.perf_counter() - started)
