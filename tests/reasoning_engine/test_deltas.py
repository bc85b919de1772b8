"""Text on its way to observers."""

import asyncio

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from reasoning_engine.deltas import Deltas


class Observer:
    """Keeps what it is told; Redis is gone for its first `losses` pieces."""

    def __init__(self, losses: int = 0) -> None:
        self.heard: list[str] = []
        self.told = asyncio.Event()
        self._losses = losses

    async def stream_text(self, text: str) -> None:
        await asyncio.sleep(0)
        self.told.set()
        if self._losses:
            self._losses -= 1
            raise RedisConnectionError("gone")
        self.heard.append(text)


async def test_text_that_comes_at_once_travels_as_one() -> None:
    observer = Observer()
    async with Deltas(observer.stream_text, pause_s=60) as deltas:
        for letter in "abc":
            deltas.add(letter)
    assert observer.heard == ["abc"]


async def test_text_travels_before_the_reply_is_whole_and_in_order() -> None:
    observer = Observer()
    async with Deltas(observer.stream_text, pause_s=0.001) as deltas:
        for letter in "abcdef":
            deltas.add(letter)
            observer.told.clear()
            await asyncio.wait_for(observer.told.wait(), 10)
            assert observer.heard
    assert "".join(observer.heard) == "abcdef"
    assert len(observer.heard) > 1


async def test_no_text_is_no_traffic() -> None:
    observer = Observer()
    async with Deltas(observer.stream_text) as deltas:
        deltas.add("")
    assert observer.heard == []


async def test_text_that_redis_does_not_take_harms_nobody() -> None:
    observer = Observer(losses=1)
    async with Deltas(observer.stream_text, pause_s=0.001) as deltas:
        deltas.add("a")
        await asyncio.wait_for(observer.told.wait(), 10)
        deltas.add("b")
    assert observer.heard == ["b"]


async def test_a_handler_that_fails_streams_no_more() -> None:
    observer = Observer()

    async def fail() -> None:
        async with Deltas(observer.stream_text, pause_s=60) as deltas:
            deltas.add("a")
            raise RuntimeError("lost the lease")

    with pytest.raises(RuntimeError, match="lease"):
        await fail()
    assert observer.heard == []
