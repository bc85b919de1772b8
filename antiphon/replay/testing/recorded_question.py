"""A recording in a test: its question and answer, their check, and the creation of a new recording."""

import asyncio
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, QuerySubmitted, ResponseReady, ToolsCompleted
from antiphon_shared.events.step_records import ExchangeRecord, StepRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import ToolResult

from antiphon import Antiphon, Response
from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import ContentLine, EventLine, Line, data_in, records_in
from antiphon.recording.session_lines import session_lines
from antiphon.recording.settings import own_redaction
from antiphon.replay.redacted_lines import redacted
from antiphon.replay.report import Report
from antiphon.replay.reports.rerun import reported
from antiphon.replay.requests import complete_request
from antiphon.replay.rerun import rerun
from antiphon.replay.rerun_report import RerunReport
from antiphon.replay.testing.judged import Diverged, judge
from antiphon.replay.testing.pipelines import run_to_end
from antiphon.replay.testing.question import AskArguments, difference, question_in, question_of
from antiphon.replay.testing.scripted import ScriptedModel
from reasoning_engine.settings import Provider

_CLOSED_LIMIT_S = 30.0
_LOOK_EVERY_S = 0.02


_WHAT_TO_DO = "Ask the recorded question, or record again with --antiphon-record=rewrite."


class AnotherQuestion(AssertionError):
    """A test asks another question than was recorded, so its answer is unknown."""

    def __init__(self, path: Path, differences: Iterable[str]) -> None:
        head = f"The question of the test differs from the recorded question in {path}:"
        super().__init__(
            "\n".join(
                [head, "  - as recorded, + as asked", *(f"  {one}" for one in differences), _WHAT_TO_DO]
            )
        )


class Recorded:
    """The recording at `path`. In mode `none` it is only read; in `once` and `rewrite`, `ask` can create it.

    `allowed` is the reason why its steps may go unchecked. Steps are counted in `properties`, those of the test.
    """

    def __init__(
        self, path: Path, mode: str, allowed: str = "", properties: list[tuple[str, object]] | None = None
    ) -> None:
        self._path, self.mode = path, mode
        self._allowed, self._properties = allowed, properties
        self._new: Path | None = None

    @property
    def path(self) -> Path:
        """Return the path of the recording; while a test records, the path of a temporary file."""
        return self._new or self._path

    def settle(self, *, is_kept: bool) -> None:
        """Replace the recording by a new one, or drop it, as a failed test must not be answered from it later."""
        new, self._new = self._new, None
        if new is not None and is_kept:
            new.replace(self._path)
        elif new is not None:
            new.unlink(missing_ok=True)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Return all its lines. Raises AssertionError if the recording is missing, UnreadableEvent."""
        if not self.path.exists():
            raise AssertionError(
                f"Recording {self.path} does not exist. To create it, call recording.ask(...) in the "
                "test, and run the test with --antiphon-record=once, which asks live."
            )
        return tuple(read_lines(self.path))

    @property
    def events(self) -> tuple[AnyEvent, ...]:
        """Return its events, in order."""
        return tuple(line.event for line in self.lines if isinstance(line, EventLine))

    @property
    def query(self) -> str:
        """Return the query."""
        return next((one.query for one in data_in(self.lines, QuerySubmitted)), "")

    @property
    def response(self) -> Response:
        """Return the final response. Raises AssertionError when the session had not ended."""
        answers = list(data_in(self.lines, ResponseReady))
        if not answers:
            raise AssertionError(
                f"{self.path} contains no answer: the session had not ended when it was recorded."
            )
        return Response.model_validate(answers[-1].model_dump())

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """Return the results of its calls, in the order of the calls."""
        return tuple(result for batch in data_in(self.lines, ToolsCompleted) for result in batch.results)

    def verify(self, allow_unchecked: str = "") -> Report:
        """Verify it with today's code: `replay verify`.

        `allow_unchecked` is a reason why steps may go unchecked, in place of that of the marker or command line.
        Raises Diverged and Unchecked, which are AssertionErrors with the differences or the unchecked steps.
        """
        _ = self.lines  # raises with a hint if the recording is missing
        return judge(self.path, allow_unchecked or self._allowed, self._properties)

    def rerun(self) -> RerunReport:
        """Run it again with today's whole pipeline: `replay rerun`. Raises Diverged if the result differs."""
        _ = self.lines
        (report,) = run_to_end(rerun([self.path]))
        if not report.is_same:
            raise Diverged(reported(report), report)
        return report

    def ask(
        self,
        query: str,
        tools: Iterable[Any] = (),
        model: Provider | ScriptedModel | None = None,
        scopes: Iterable[str] | None = None,
        **options: Any,
    ) -> Response:
        """Return the answer to a query: live if it must be recorded, else from the recording.

        For an answer from the recording, the question must be the recorded one (query, options, grant, scopes, tools
        and model), and today's code must make the recorded decisions; otherwise it raises AssertionError, with the
        differences. Without `model`, any recorded model is accepted; `options` are those of Antiphon.ask.
        """
        arguments = AskArguments(query, list(tools), model, scopes, options)
        if self.mode == "rewrite" or (self.mode == "once" and not self.path.exists()):
            run_to_end(self._record(arguments))
            self.__dict__.pop("lines", None)
            return self.response
        self._check_question(arguments)
        self.verify()
        if isinstance(model, ScriptedModel):
            model.answered(self._requests())
        return self.response

    def _check_question(self, arguments: AskArguments) -> None:
        """Raise AnotherQuestion if the recording answers another question."""
        try:
            then = question_in(self.lines)
        except UnreadableEvent as error:
            raise AssertionError(f"{self.path}: {error.message} {_WHAT_TO_DO}") from None
        if differences := difference(then, question_of(arguments, self.events[0].format)):
            raise AnotherQuestion(self.path, differences)

    def _requests(self) -> list[dict[str, Any]]:
        """Return the whole requests to the model."""
        contents = {line.hash: line.content for line in self.lines if isinstance(line, ContentLine)}
        exchanges = records_in(self.lines, ExchangeRecord)
        return [complete_request(call, contents) for exchange in exchanges for call in exchange.calls]

    async def _record(self, arguments: AskArguments) -> None:
        model, scopes = arguments.model, arguments.scopes
        replies = model.model() if isinstance(model, ScriptedModel) else model
        async with Antiphon.embedded(
            tools=arguments.tools, model=replies, scopes=scopes, cache=False
        ) as antiphon:
            response = await antiphon.ask(arguments.query, **arguments.options)
            lines = await _lines_when_closed(antiphon.open_bus(), response.session_id)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_name(f".{os.getpid()}.{self._path.name}")
        write_lines(new, redacted(lines, own_redaction()))
        self._new = new


async def _lines_when_closed(bus: Bus, session_id: str) -> list[Line]:
    """Return the session's lines, once it is closed. Raises TimeoutError."""
    async with asyncio.timeout(_CLOSED_LIMIT_S):
        while True:
            lines = [line async for line in session_lines(session_id, bus)]
            if any(getattr(record, "closes", False) for record in records_in(lines, StepRecord)):
                return lines
            await asyncio.sleep(_LOOK_EVERY_S)
