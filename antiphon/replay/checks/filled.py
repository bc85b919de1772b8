"""The placeholders of a batch, filled in again with the results of its calls. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from antiphon_shared.events import ToolsRequested
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.tools.calls import Catalogue, RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.placeholders import Reference, find

from tool_dispatcher.batch import Plan, digest_of, resolve

_RECORDED_SINCE = 4
"""The format whose records have digests of the filled-in arguments."""


class Filled(NamedTuple):
    """The result of filling in the placeholders today."""

    digests: dict[int, str]
    """The digests of the arguments, by the index of the call; the recorded ones where today's are unknown."""
    errors: dict[int, ToolError]
    """The errors of calls whose placeholders have no value."""


def filled(
    request: ToolsRequested,
    record: BatchRecord,
    plan: Plan,
    returned: Mapping[int, ToolResult],
    catalogue: Catalogue,
    format: int,
) -> Filled:
    """Return the filled-in arguments of the calls that were run."""
    digests, errors = dict(record.filled), dict[int, ToolError]()
    ran = {place for step in record.begins for n in step for place in _calls_of(plan, n)}
    results = [returned[place] for place in range(len(request.calls))]
    for place in sorted(ran.difference(record.begun, record.settled)):
        call = request.calls[place]
        named = {found.call for _, found in find(call.arguments) if isinstance(found, Reference)}
        if not named or any(results[one].handle for one in named):
            continue  # a result that is shown in part is not recorded whole
        today = resolve(call, results, example=record.examples.get(call.name))
        digests.pop(place, None)
        if isinstance(today, ToolError):
            errors[place] = today
        elif format >= _RECORDED_SINCE and not _has_secrets(call, catalogue):
            digests[place] = digest_of(today)
    return Filled(dict(sorted(digests.items())), errors)


def _calls_of(plan: Plan, unit: int) -> tuple[int, ...]:
    return plan.units[unit].calls if unit < len(plan.units) else ()


def _has_secrets(call: RequestedCall, catalogue: Catalogue) -> bool:
    tool = catalogue.by_name.get(call.name)
    from tool_dispatcher.authoring.secret import secret_paths  # few recordings need it, and all start faster

    return tool is None or bool(secret_paths(tool.input_schema))
