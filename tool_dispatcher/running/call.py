"""The life of one unit of a batch, from the plan to its results. Read `Caller.run` first.

    arguments     are completed with the values of placeholders, and validated; see arguments.py
    a write       is claimed, run and settled, at most once; see write.py
    a read        comes from the cache, if it was made before with the same arguments and rights; else it runs
    a run         is retried, or replaced by an alternative; see runner.py, and attempt.py for one attempt
    results       are cut to size; see results/outcome.py

Calls without permission, and calls known to be invalid, do not come here: see executor.py.
"""

from collections.abc import Mapping, Sequence

from antiphon_shared.events import ToolsRequested
from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.process.offload import offload
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import Unit, begun_elsewhere, gathered
from tool_dispatcher.idempotency.port import LedgerUnavailable, WriteLedger
from tool_dispatcher.idempotency.write import Results
from tool_dispatcher.results.outcome import Answer, Outcomes
from tool_dispatcher.running.arguments import Arguments, arguments_of, filled_in, referenced_calls
from tool_dispatcher.running.attempt import Attempts
from tool_dispatcher.running.batch_run import BatchRun, Call
from tool_dispatcher.running.cache import OwnWrites, ReadCache, digest_of, is_cached
from tool_dispatcher.running.group import Items
from tool_dispatcher.running.runner import Runner
from tool_dispatcher.running.write import Writes, call_identity


class Caller:
    """The runner of units; one per process."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        ledger: WriteLedger,
        cache: ReadCache | None,
        attempts: Attempts,
        outcomes: Outcomes,
        retention_s: float,
    ) -> None:
        self._tools, self._ledger, self._cache, self._outcomes = tools, ledger, cache, outcomes
        self._runner = Runner(tools, attempts)
        is_caching = cache is not None and any(is_cached(tool.contract) for tool in tools.values())
        self._writes = Writes(
            tools, ledger, self._runner, attempts, outcomes, retention_s, is_caching=is_caching
        )

    async def run(self, unit: Unit, batch: BatchRun, results: Sequence[ToolResult | None]) -> Results:
        """Return a settled result for each call of the unit; `results` are those of the batch so far, by index."""
        began_s = monotonic_s()
        tool = self._tools[unit.tool]
        requested = tuple([batch.request.calls[index] for index in unit.calls])
        arguments = await self._arguments(unit, tool, requested, batch, results)
        if isinstance(arguments, ToolError):
            if not batch.begun.isdisjoint(unit.calls):
                arguments = begun_elsewhere(requested[0], arguments)
            return await batch.journal.settle(self._outcomes.error_results(unit.calls, requested, arguments))
        call = Call(batch, unit, requested, began_s, tool, arguments)
        if tool.effect == "write":
            return await self._writes.make(call)
        call = call.read()
        return await batch.journal.settle(await self._outcomes.results(call, await self._read(call)))

    async def _arguments(
        self,
        unit: Unit,
        tool: Tool,
        calls: Sequence[RequestedCall],
        batch: BatchRun,
        results: Sequence[ToolResult | None],
    ) -> Arguments | ToolError:
        if unit.variant is not None:
            items = [batch.arguments[index] for index in unit.calls]
            secrets = tuple(secret for item in items for secret in item.secrets)
            group = arguments_of(tool, gathered(unit.variant, [item.plain for item in items]), secrets)
            return _group_error(group, tool, calls) if isinstance(group, ToolError) else group
        (index,), (call,) = unit.calls, calls
        if index in batch.arguments:
            return batch.arguments[index]
        complete_results = await batch.complete_results_of(referenced_calls(call), results)
        arguments, digest = await offload(filled_in, call, tool, results, complete_results)
        if digest:
            batch.filled[index] = digest
        return arguments

    async def _read(self, call: Call) -> Answer:
        """Answer a read from the cache if its contract allows it, else run it and cache the result."""
        if self._cache is None or not is_cached(call.contract) or (digest := await _digest(call)) is None:
            return await self._runner.answer(call)
        if (cached := await self._cache.get(digest)) is not None:
            return cached
        begun = utc_now()
        answer = await self._runner.answer(call)
        if not answer.substitute:
            outcome = answer.outcome.as_one_outcome if isinstance(answer.outcome, Items) else answer.outcome
            self._cache.store(digest, outcome, begun, call.contract.cache_ttl_s)
        return answer

    async def repeats(
        self, request: ToolsRequested, session_id: str, arguments: Mapping[int, Arguments]
    ) -> frozenset[int]:
        """Return the indexes of writes that an earlier call of the batch, or of the session, has made.

        Calls that wait for placeholders have no arguments yet; they are checked when they run.
        """
        writes = [index for index, call in enumerate(request.calls) if self._may_be_repeat(call)]
        if len(writes) < 2:
            return frozenset()  # a single write comes after no other, and is in no group
        seen: dict[str, int] = {}
        repeated = set()
        for index in writes:
            if index in arguments:
                identity = await call_identity(self._tools[request.calls[index].name], arguments[index])
                if seen.setdefault(identity, index) != index:
                    repeated.add(index)
        calls = [(request.calls[index].id, identity) for identity, index in seen.items()]
        try:
            are_repeats = await self._ledger.repeats(session_id, request.round, calls) if calls else ()
        except LedgerUnavailable:
            return frozenset(repeated)  # then the writes cannot be claimed either
        return frozenset(repeated).union(
            index for index, is_repeat in zip(seen.values(), are_repeats, strict=True) if is_repeat
        )

    def _may_be_repeat(self, call: RequestedCall) -> bool:
        tool = self._tools.get(call.name)
        if tool is None or tool.contract.effect == "read" or call.idempotency_key is not None:
            return False
        return tool.contract.repeat != "run" and call.repeat_of is None and call.refused is None


async def _digest(call: Call) -> str | None:
    """Return the cache key of the read; None if its result must not come from the cache."""
    batch = call.batch
    cache_name = await OwnWrites(batch.session).cache_name()
    if cache_name is None:
        return None
    scopes = batch.permissions.authorization.scopes
    return await offload(digest_of, call.tool, batch.request.tenant, scopes, call.arguments.plain, cache_name)


def _group_error(error: ToolError, variant: Tool, calls: Sequence[RequestedCall]) -> ToolError:
    """Return the error of valid calls whose arguments the batch variant refuses."""
    names = f"{calls[0].name} was to run as one of {len(calls)} by {variant.name}, and was not run."
    return error.model_copy(
        update={
            "message": readable(f"{names} {error.message}"),
            "suggested_action": f"Call {calls[0].name} again with corrected arguments, or fewer times at once.",
            "example_valid_call": None,
        }
    )
