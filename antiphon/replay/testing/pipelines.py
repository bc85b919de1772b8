"""Embedded pipelines for tests, without connections beyond the test."""

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, TypeVar

from antiphon import Antiphon, Response
from antiphon.replay.testing.scripted import ScriptedModel

AnyModel = ScriptedModel | Literal["offline"]


class Pipelines:
    """A maker of pipelines.

    Use it as `async with pipeline(tools=[...], model=scripted_model) as antiphon`, or as `pipeline.ask(...)`.
    """

    @contextlib.asynccontextmanager
    async def __call__(
        self, tools: Iterable[Any] = (), model: AnyModel = "offline", scopes: Iterable[str] | None = None
    ) -> AsyncIterator[Antiphon]:
        """Run a whole pipeline with the tools until the block ends, without a cache; see Antiphon.embedded."""
        replies = model if isinstance(model, str) else model.model()
        async with Antiphon.embedded(tools=tools, model=replies, scopes=scopes, cache=False) as antiphon:
            yield antiphon

    def ask(
        self,
        query: str,
        tools: Iterable[Any] = (),
        model: AnyModel = "offline",
        scopes: Iterable[str] | None = None,
        **options: Any,
    ) -> Response:
        """Return the answer of a pipeline to one question, for tests that are plain functions."""

        async def ask() -> Response:
            async with self(tools, model, scopes) as antiphon:
                return await antiphon.ask(query, **options)

        return run_to_end(ask())


T = TypeVar("T")


def run_to_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a new event loop, in another thread if a loop is running, and return its result.

    This works with every runner of async tests; the loop of the test is blocked in the meantime.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: context.run(asyncio.run, coroutine)).result()
