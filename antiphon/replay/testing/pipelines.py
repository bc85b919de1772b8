"""Pipelines for tests: embedded, without connections beyond the test."""

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
        """Run a whole pipeline with the tools until the block ends; see Antiphon.embedded. Nothing is cached."""
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
        """Return the answer of a pipeline for one question; for tests that are plain functions."""

        async def ask() -> Response:
            async with self(tools, model, scopes) as antiphon:
                return await antiphon.ask(query, **options)

        return waited_for(ask())


T = TypeVar("T")


def waited_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return a coroutine's result, run on its own loop; in its own thread where a loop is running already.

    So one way to wait works with every runner of async tests; the test's own loop is blocked meanwhile.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: context.run(asyncio.run, coroutine)).result()
