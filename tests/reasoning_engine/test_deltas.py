"""Text on its way to observers."""

import asyncio

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from reasoning_engine.deltas import Deltas


class Observer:
    """Keeps the pieces; Redis is unavailable for the first `losses` of them."""

    def __init__(self, losses: int = 0) -> None:
        self.events: list[str] = []
        self.has_event = asyncio.Event()
        self._losses = losses

    def stream_text(self, text: str) -> asyncio.Future[None]:
        arrival: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.has_event.set()
        if self._losses:
            self._losses -= 1
            arrival.set_exception(RedisConnectionError("gone"))
        else:
            self.events.append(text)
            arrival.set_result(None)
        return arrival


async def test_text_that_arrives_together_is_sent_together() -> None:
    observer = Observer()
    with Deltas(observer.stream_text, pause_s=60) as deltas:
        for letter in "abc":
            deltas.add(letter)
    assert observer.events == ["abc"]


async def test_text_travels_before_the_reply_is_whole_and_in_order() -> None:
    observer = Observer()
    with Deltas(observer.stream_text, pause_s=0.001) as deltas:
        for letter in "abcdef":
            observer.has_event.clear()
            deltas.add(letter)
            await asyncio.wait_for(observer.has_event.wait(), 60)
    assert observer.events == list("abcdef")


async def test_an_empty_text_sends_nothing() -> None:
    observer = Observer()
    with Deltas(observer.stream_text) as deltas:
        deltas.add("")
    assert observer.events == []


async def test_text_that_redis_does_not_take_does_no_harm() -> None:
    observer = Observer(losses=1)
    with Deltas(observer.stream_text, pause_s=0.001) as deltas:
        deltas.add("a")
        await asyncio.wait_for(observer.has_event.wait(), 60)
        deltas.add("b")
    assert observer.events == ["b"]


async def test_a_handler_that_fails_streams_no_more() -> None:
    observer = Observer()

    def fail() -> None:
        with Deltas(observer.stream_text, pause_s=0.001) as deltas:
            deltas.add("a")
            raise RuntimeError("lost the lease")

    with pytest.raises(RuntimeError, match="lease"):
        fail()
    await asyncio.sleep(0.02)
    assert observer.events == []
