"""The dispatcher's batches, planned again and run in the recorded order; the tools' results are inputs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import Catalogue, RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.contract import Contract
from antiphon_shared.tools.placeholders import find

from antiphon.replay.checks.catalogues import contracts_of
from antiphon.replay.differences import Difference, differences
from antiphon.replay.steps.replay_state import RecordingContent, RepeatedStep, Step
from tool_dispatcher.batch import (
    BatchState,
    Bounds,
    Plan,
    advance,
    digest_of,
    failed,
    plan_batch,
    resolve,
    start,
)
from tool_dispatcher.batch.placeholders import referenced_indexes

_Begins = tuple[tuple[int, ...], ...]


def redo_batch(step: Step, content: RecordingContent) -> RepeatedStep:
    """Repeat a batch with today's code. Raises UnreadableEvent if the recording does not suffice for a plan."""
    request, record = step.line.event.data, step.record
    recorded = step.output(ToolsCompleted)
    if not isinstance(request, ToolsRequested) or not isinstance(record, BatchRecord) or recorded is None:
        raise UnreadableEvent(f"a batch was recorded for a {request.type}.")
    returned = {result.index: result for result in recorded.results}
    if returned.keys() != set(range(len(request.calls))):
        raise UnreadableEvent(f"the batch of event {step.line.n} has not one result for each call.")
    catalogue = content.catalogue(content.opened.catalogue if content.opened else "")
    plan = _plan(request, record, catalogue)
    units = tuple((unit.tool, unit.calls) for unit in plan.units)
    others = [("units", one) for one in _differences(record.units, units)]
    today_filled = fill_arguments(request, record, plan, returned, catalogue, step.line.event.format)
    returned |= {index: _failed(returned[index], error) for index, error in today_filled.errors.items()}
    begins, results = _run(plan, record.ends, returned)
    others += [("begins", one) for one in _differences(record.begins, begins)]
    others += [("results", one) for one in _not_alternatives(recorded.results, contracts_of(catalogue))]
    others += [("filled", one) for one in differences(record.filled, today_filled.digests)]
    changed = {"units": units, "begins": begins, "filled": today_filled.digests}
    today = record.model_copy(update=changed) if others else record
    if results is None:
        others = others or [("begins", Difference("", "every call is answered", "calls are left"))]
        return RepeatedStep((recorded,), tuple(others), today)
    completed = ToolsCompleted.of(request.round, results, recorded.duration_ms)
    return RepeatedStep((completed,), tuple(others), today)


def _plan(request: ToolsRequested, record: BatchRecord, catalogue: Catalogue) -> Plan:
    recorded_calls = {*record.settled, *record.refused, *record.begun}
    is_indexed = all(result.index == index for index, result in record.settled.items())
    if not is_indexed or not recorded_calls <= set(range(len(request.calls))):
        raise UnreadableEvent("the record of a batch names calls that the batch does not have.")
    return plan_batch(
        request,
        contracts_of(catalogue),
        Bounds(record.batch_concurrency, record.collapse_above),
        BatchState(record.settled, record.refused, record.begun, record.barred, record.repeats),
        record.examples.get,
    )


def _run(
    plan: Plan, ends: Sequence[Sequence[int]], returned: dict[int, ToolResult]
) -> tuple[_Begins, tuple[ToolResult, ...] | None]:
    """Return the units that begin at each step, and the results if all calls have one; units end as recorded."""
    step = start(plan)
    begins = [tuple(unit.number for unit in step.begin)]
    for ended in ends:
        if not step.progress.running.issuperset(ended) or len(set(ended)) != len(ended):
            break
        units = [plan.units[number] for number in ended]
        step = advance(step.progress, *((unit, [returned[index] for index in unit.calls]) for unit in units))
        begins.append(tuple(unit.number for unit in step.begin))
    return tuple(begins), step.progress.results() if step.progress.is_done else None


def _not_alternatives(
    results: Iterable[ToolResult], contracts: Mapping[str, Contract]
) -> Iterator[Difference]:
    """Yield the results of tools that are not alternatives of the called tool."""
    for result in results:
        contract = contracts.get(result.tool)
        names = [one.tool for one in contract.alternatives] if contract else []
        if result.substitute and result.substitute not in names:
            expected = " or ".join(names) or "no alternative"
            yield Difference(f"[{result.index}].substitute", result.substitute, expected)


def _failed(result: ToolResult, error: ToolError) -> ToolResult:
    """Return the result of a call that a placeholder prevents from running, with the recorded duration."""
    call = RequestedCall(id=result.call_id, name=result.tool)
    return failed(result.index, call, error, result.duration_ms)


def _differences(then: object, now: object) -> list[Difference]:
    return [] if then == now else list(differences(_lists(then), _lists(now)))


def _lists(value: object) -> Any:
    return [_lists(one) for one in value] if isinstance(value, list | tuple) else value


_RECORDED_SINCE = 4
"""The format whose records have digests of the filled-in arguments."""


class FilledArguments(NamedTuple):
    """The result of filling in the placeholders today."""

    digests: dict[int, str]
    """The digests of the arguments, by the index of the call; recorded digests if today's are unknown."""
    errors: dict[int, ToolError]
    """The errors of calls whose placeholders have no value."""


def fill_arguments(
    request: ToolsRequested,
    record: BatchRecord,
    plan: Plan,
    returned: Mapping[int, ToolResult],
    catalogue: Catalogue,
    format: int,
) -> FilledArguments:
    """Return the filled-in arguments of the calls that were run."""
    digests, errors = dict(record.filled), dict[int, ToolError]()
    ran = {index for step in record.begins for n in step for index in _calls_of(plan, n)}
    results = [returned[index] for index in range(len(request.calls))]
    for index in sorted(ran.difference(record.begun, record.settled)):
        call = request.calls[index]
        referenced = referenced_indexes(find(call.arguments))
        if not referenced or any(results[one].handle for one in referenced):
            continue  # a result that is shown in part is not recorded whole
        today = resolve(call, results, example=record.examples.get(call.name))
        digests.pop(index, None)
        if isinstance(today, ToolError):
            errors[index] = today
        elif format >= _RECORDED_SINCE and not _has_secrets(call, catalogue):
            digests[index] = digest_of(today)
    return FilledArguments(dict(sorted(digests.items())), errors)


def _calls_of(plan: Plan, unit: int) -> tuple[int, ...]:
    return plan.units[unit].calls if unit < len(plan.units) else ()


def _has_secrets(call: RequestedCall, catalogue: Catalogue) -> bool:
    tool = catalogue.by_name.get(call.name)
    from tool_dispatcher.authoring.secret import secret_paths  # few recordings need it, and all start faster

    return tool is None or bool(secret_paths(tool.input_schema))
