"""The placeholders of a batch, filled in again with what its calls returned. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from antiphon_shared.events import ToolsRequested
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.tools.calls import Catalogue, RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.placeholders import Reference, find

from tool_dispatcher.batch import Plan, digest_of, resolve

_RECORDED_SINCE = 4
"""The format whose records have digests of the arguments that placeholders were filled into."""


class Filled(NamedTuple):
    """What comes of the placeholders today."""

    digests: dict[int, str]
    """Of the arguments, by the place of the call; as recorded where that cannot be known."""
    errors: dict[int, ToolError]
    """Of the calls whose placeholders stand for nothing."""


def filled(
    request: ToolsRequested,
    record: BatchRecord,
    plan: Plan,
    returned: Mapping[int, ToolResult],
    catalogue: Catalogue,
    format: int,
) -> Filled:
    """Return what comes of the placeholders of the calls that were run."""
    digests, errors = dict(record.filled), dict[int, ToolError]()
    ran = {place for step in record.begins for n in step for place in _calls_of(plan, n)}
    results = [returned[place] for place in range(len(request.calls))]
    for place in sorted(ran.difference(record.begun, record.settled)):
        call = request.calls[place]
        named = {found.call for _, found in find(call.arguments) if isinstance(found, Reference)}
        if not named or any(results[one].handle for one in named):
            continue  # of a result that is shown in part, the whole is not recorded
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
    from tool_dispatcher.authoring.secret import secret_paths  # few recordings need it, and all start quicker

    return tool is None or bool(secret_paths(tool.input_schema))
