"""Pipelines for tests: embedded, without connections beyond the test."""

import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import Any, Literal

from antiphon import Antiphon, Response
from antiphon.replay.testing.blocking import waited_for
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
