"""A recording, as a test has it: what was asked and what came of it; and how it is made."""

import asyncio
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, QuerySubmitted, ResponseReady, ToolsCompleted
from antiphon_shared.tools.calls import ToolResult

from antiphon import Antiphon, Response
from antiphon.embedded import registry_of
from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import CatalogueLine, EventLine, Line, RecordLine
from antiphon.recording.redaction.redacted_lines import own_redaction, redacted
from antiphon.recording.replaying.differences import differences
from antiphon.recording.replaying.report import Report
from antiphon.recording.reports.rerun import told
from antiphon.recording.rerun import rerun
from antiphon.recording.rerun_report import RerunReport
from antiphon.recording.session_lines import session_lines
from antiphon.recording.testing.blocking import waited_for
from antiphon.recording.testing.judged import Diverged, judge
from antiphon.recording.testing.scripted import ScriptedModel
from reasoning_engine.settings import Provider

_CLOSED_LIMIT_S = 30.0
_LOOK_EVERY_S = 0.02


class Recorded:
    """The recording at `path`. In mode `none` it is only read; `once` and `rewrite` let `ask` make it."""

    def __init__(self, path: Path, mode: str) -> None:
        self._path, self.mode = path, mode
        self._new: Path | None = None

    @property
    def path(self) -> Path:
        """Where it is; while a test that records runs, beside the place that it takes when the test has passed."""
        return self._new or self._path

    def settle(self, *, is_kept: bool) -> None:
        """Put what was recorded in its place, or drop it, as a failed test would be answered from it ever after."""
        new, self._new = self._new, None
        if new is not None and is_kept:
            new.replace(self._path)
        elif new is not None:
            new.unlink(missing_ok=True)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """All that stands in it. Raises AssertionError when there is none, UnreadableEvent."""
        if not self.path.exists():
            raise AssertionError(
                f"There is no recording {self.path}. Make it: let the test call recording.ask(...), and run it with "
                "--antiphon-record=once, which asks live."
            )
        return tuple(read_lines(self.path))

    @property
    def events(self) -> tuple[AnyEvent, ...]:
        """Its events, in order."""
        return tuple(line.event for line in self.lines if isinstance(line, EventLine))

    @property
    def query(self) -> str:
        """What was asked."""
        return next((one.data.query for one in self.events if isinstance(one.data, QuerySubmitted)), "")

    @property
    def response(self) -> Response:
        """What it ended in. Raises AssertionError when it has not ended."""
        for event in reversed(self.events):
            if isinstance(event.data, ResponseReady):
                return Response.model_validate(event.data.model_dump())
        raise AssertionError(f"{self.path} holds no answer: the session had not ended when it was recorded.")

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """The results of its calls, in the order of the calls."""
        completed = (one.data for one in self.events if isinstance(one.data, ToolsCompleted))
        return tuple(result for batch in completed for result in batch.results)

    def verify(self) -> Report:
        """Hold it against today's code: `replay verify`. Raises Diverged, an AssertionError that says what differs."""
        _ = self.lines  # which says what to do where there is none
        return judge(self.path)

    def rerun(self) -> RerunReport:
        """Run it again by the whole pipeline of today: `replay rerun`. Raises Diverged where it ends otherwise."""
        _ = self.lines
        (report,) = waited_for(rerun([self.path]))
        if not report.is_same:
            raise Diverged(told(report), report)
        return report

    def ask(
        self,
        query: str,
        tools: Iterable[Any] = (),
        model: Provider | ScriptedModel | None = None,
        scopes: Iterable[str] | None = None,
        **options: Any,
    ) -> Response:
        """The answer to a query: live where it has to be recorded, else from the recording.

        From the recording: it must be of that query, the tools must be what they were, and today's code has to
        decide what was decided. `model` is asked only live; `options` are those of Antiphon.ask. Raises
        AssertionError.
        """
        tools = list(tools)
        if self.mode == "rewrite" or (self.mode == "once" and not self.path.exists()):
            waited_for(self._record(query, tools, model, scopes, options))
            self.__dict__.pop("lines", None)
            return self.response
        if query != self.query:
            raise AssertionError(
                f"{self.path} was recorded for another query: {self.query!r}. Record it anew with "
                "--antiphon-record=rewrite."
            )
        self._check_tools(tools)
        self.verify()
        return self.response

    def _check_tools(self, tools: list[Any]) -> None:
        """What the model was told of the tools is part of what it answered to. Raises AssertionError."""
        catalogues = (line.catalogue for line in self.lines if isinstance(line, CatalogueLine))
        recorded = {tool.name: tool.model_dump(mode="json") for one in catalogues for tool in one.tools}
        for name, tool in registry_of(tools).items():
            today = {**tool.definition.model_dump(mode="json"), "approval": None}
            then = {**recorded[name], "approval": None} if name in recorded else None
            if then == today:
                continue
            where = "it was not there" if then is None else next(iter(differences(then, today))).path
            raise AssertionError(
                f"The tool {name!r} is not what it was when {self.path} was recorded ({where}), so nobody knows what "
                "the model would do with it. Record it anew with --antiphon-record=rewrite."
            )

    async def _record(
        self,
        query: str,
        tools: list[Any],
        model: Provider | ScriptedModel | None,
        scopes: Iterable[str] | None,
        options: dict[str, Any],
    ) -> None:
        replies = model.model() if isinstance(model, ScriptedModel) else model
        async with Antiphon.embedded(tools=tools, model=replies, scopes=scopes, cache=False) as antiphon:
            response = await antiphon.ask(query, **options)
            lines = await _closed(antiphon._open_bus(), response.session_id)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_name(f".{os.getpid()}.{self._path.name}")
        write_lines(new, redacted(lines, own_redaction()))
        self._new = new


async def _closed(bus: Bus, session_id: str) -> list[Line]:
    """The session's lines, once it is closed. Raises TimeoutError."""
    async with asyncio.timeout(_CLOSED_LIMIT_S):
        while True:
            lines = [line async for line in session_lines(session_id, bus.session(session_id), bus)]
            records = [cast(Any, line).record for line in lines if isinstance(line, RecordLine)]
            if any(getattr(record, "closes", False) for record in records):
                return lines
            await asyncio.sleep(_LOOK_EVERY_S)
