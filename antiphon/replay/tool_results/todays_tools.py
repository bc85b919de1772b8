"""The shell: it repeats recorded calls, one recording after the other, within the tools' contracts."""

import asyncio
import contextlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.process.ids import idempotency_key
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secret_values
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import RateLimit

from antiphon.recording.lines import End, Line
from antiphon.replay.recorded_calls import RecordedCall, batches_of
from antiphon.replay.report import Report
from antiphon.replay.testing.network import denied
from antiphon.replay.tool_results.choice import reason_not_repeated
from antiphon.replay.tool_results.judged import Findings
from antiphon.replay.tool_results.volatile import Volatile
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.catalogue import load_tools
from tool_dispatcher.results.redacted import redact_call_secrets, redacted
from tool_dispatcher.running.arguments import Arguments, arguments_of
from tool_dispatcher.running.execute import execute_without_batch
from tool_dispatcher.running.retrying import Retries
from tool_dispatcher.running.threads import Threads

_CONCURRENCY = 8
"""The number of concurrent calls of a batch, if the contracts allow it."""
_CALL_S_MAX = 300.0
"""The time limit for all attempts at one call: no attempt begins after it."""


class TodaysTools:
    """The repetition of recorded calls of reading tools; close it at the end."""

    def __init__(self, modules: str, volatile: Iterable[str] = (), allows_network: bool = False) -> None:
        """Load the tools; `modules` are as in ANTIPHON_TOOLS, `volatile` are fields of results that may differ.

        Raises ConfigurationError as `load_tools` and `Volatile.of`.
        """
        self._volatile, self._allows_network = tuple(map(Volatile.of, volatile)), allows_network
        with self._isolated():
            self._tools: Mapping[str, Tool] = load_tools(modules)
        self._runner = asyncio.Runner()
        self._threads = Threads(_CONCURRENCY)
        self._redactor = Redactor(secret_values())
        self._slots = {name: asyncio.Semaphore(_concurrency_of(tool)) for name, tool in self._tools.items()}
        self._turns: dict[str, _Turns] = defaultdict(_Turns)

    def __enter__(self) -> "TodaysTools":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads and the loop."""
        self._threads.close()
        self._runner.close()

    def check(self, lines: Sequence[Line], report: Report) -> Report:
        """Return the report with the results of today's tools for the recorded calls."""
        findings = Findings(any(isinstance(line, End) and line.redactions for line in lines))
        with self._isolated() as attempts:
            self._runner.run(self._check(lines, findings, attempts))
        return findings.into(report)

    @contextlib.contextmanager
    def _isolated(self) -> Iterator[Sequence[str]]:
        """Deny tools the network beyond this machine, unless allowed, and redirect their output to stderr.

        Yields the denied hosts.
        """
        with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as guard:
            yield () if self._allows_network else guard.enter_context(denied())

    async def _check(self, lines: Sequence[Line], findings: Findings, attempts: Sequence[str]) -> None:
        for batch in batches_of(lines):
            chosen = []
            for one in batch:
                if (reason := reason_not_repeated(one, self._tools)) is not None:
                    findings.skip(reason.kind, one.call.name, reason.why)
                else:
                    chosen.append(one)
            outcomes = await asyncio.gather(*(self._call(one, attempts) for one in chosen))
            for one, (outcome, is_denied) in zip(chosen, outcomes, strict=True):
                if is_denied:
                    findings.skip("unchecked", one.call.name, "the network was denied (--allow-network)")
                else:
                    findings.judge(one, outcome, self._volatile_of(one.call.name))
            findings.has_written = findings.has_written or any(
                one.writes and one.result.status == "ok" for one in batch
            )

    def _volatile_of(self, tool: str) -> list[Volatile]:
        return [one for one in self._volatile if one.tool in ("", tool)]

    async def _call(self, one: RecordedCall, attempts: Sequence[str]) -> tuple[Any, bool]:
        """Return JSON values or a ToolError, and whether a connection to another machine was denied during the call."""
        tool = self._tools[one.call.name]
        assert one.arguments is not None, "only calls with known arguments are made"
        arguments = arguments_of(tool, one.arguments)
        if isinstance(arguments, ToolError):
            return self._clean(arguments, ()), False
        ends_s = monotonic_s() + _CALL_S_MAX
        before = len(attempts)

        retries, number = Retries(tool.contract), 1
        async with self._slots[tool.name]:
            while await retries.wait_before_retry(
                outcome := await self._attempt(one, tool, arguments, number), ends_s - monotonic_s()
            ):
                number += 1
                arguments = arguments_of(tool, arguments.plain)
                assert isinstance(arguments, Arguments), "they were valid before"
        # A tool may hide a denial, and calls run concurrently: no call that overlaps a denial is judged.
        return self._clean(retries.final_outcome(outcome), arguments.secrets), len(attempts) > before

    async def _attempt(self, one: RecordedCall, tool: Tool, arguments: Arguments, number: int) -> Any:
        if tool.contract.rate_limit is not None:
            await self._turns[tool.name].wait(tool.contract.rate_limit)
        timeout_s = tool.contract.timeout_s
        context = ToolContext(
            idempotency_key=idempotency_key(one.tenant, one.session_id, one.round, one.call.id),
            session_id=one.session_id,
            call_id=one.call.id,
            attempt=number,
            deadline=utc_now() + timedelta(seconds=timeout_s),
            tenant=one.tenant,
        )
        ended = await execute_without_batch(tool, arguments.values, context, self._threads, _CALL_S_MAX)
        return ended.outcome

    def _clean(self, outcome: object, secrets: Sequence[str]) -> Any:
        return redact_call_secrets(secrets, redacted(outcome, self._redactor))


class _Turns:
    """The next free time of a tool with a rate limit; see `bounds/rate.py`."""

    def __init__(self) -> None:
        self._full_s = 0.0
        """The time when the whole limit is available again."""

    async def wait(self, limit: RateLimit) -> None:
        interval_s, now_s = limit.per_s / limit.calls, monotonic_s()
        self._full_s = max(self._full_s, now_s) + interval_s
        await asyncio.sleep(max(0.0, self._full_s - now_s - limit.per_s))


def _concurrency_of(tool: Tool) -> int:
    """Return the number of calls of a tool that may be in flight at once."""
    contract = tool.contract
    if contract.mode == "sequential-only":
        return 1
    return min(contract.max_concurrency or _CONCURRENCY, _CONCURRENCY)
