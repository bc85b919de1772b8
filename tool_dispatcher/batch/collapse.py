"""Calls of one tool, collapsed into one call of its batch variant, and the result of each of them. Pure."""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import islice

from antiphon_shared.events import ToolsRequested
from antiphon_shared.tools.calls import ErrorType, ToolError, ToolOutcome
from antiphon_shared.tools.contract import BatchVariant, Contract, Effect
from antiphon_shared.values import Json, ToolArguments

from tool_dispatcher.authoring.codes import code_in, is_only_code, type_of
from tool_dispatcher.authoring.failures import TOOL_ERRORS, TRANSIENT_ERRORS, WHAT_TO_DO, readable, tool_error
from tool_dispatcher.batch.placeholders import outlined

_ENVELOPE = frozenset(("index", "status", "data", "error"))
_ERROR = frozenset(("code", "error_type", "message", "suggested_action", "retry_after_s", "fields"))
"""The fields of an error: of the object `error`, or of an item without such an object."""
_FIELDS_MAX = 20
_READ_SINGLY = "Call {tool} again for one item at a time, or go on without it and say so."
_TOOK_EFFECT = "The call was made and took effect; do not repeat it. Check with a reading tool what it did."
_ITEM_OF_A_WRITE = "Follow the message; check with a reading tool before making this call again."


def groups(
    request: ToolsRequested,
    contracts: Mapping[str, Contract],
    groupable: Iterable[int],
    excluded: Container[str],
    collapse_above: int,
) -> list[tuple[int, ...]]:
    """Return the groups of calls that run together, as indexes; the last group may hold a single call.

    `groupable` are the calls that may be in a group. They depend only on the request and the contracts, and
    include settled calls: each group has an idempotency key, so a batch that is taken over after a crash must
    form the same groups.
    """
    by_tool: dict[str, list[int]] = {}
    for index in groupable:
        by_tool.setdefault(request.calls[index].name, []).append(index)
    call_groups = []
    for name, indexes in by_tool.items():
        variant = variant_of(name, request, contracts, excluded)
        if variant is not None and len(indexes) > collapse_above:
            size_max = variant.items_max
            call_groups += [
                tuple(indexes[first : first + size_max]) for first in range(0, len(indexes), size_max)
            ]
    return call_groups


def variant_of(
    name: str, request: ToolsRequested, contracts: Mapping[str, Contract], excluded: Container[str]
) -> BatchVariant | None:
    """Return the batch variant that may replace a tool in this batch, or None.

    A variant for other rounds, or with further dependencies, may not: it would refuse calls that the tool
    accepts.
    """
    contract = contracts.get(name)
    if contract is None or contract.batch is None:
        return None
    variant = contract.batch
    other = contracts.get(variant.tool)
    if other is None or variant.tool in excluded or variant.tool not in request.allowed:
        return None
    is_equivalent = (
        variant.tool != name
        and other.effect == contract.effect
        and other.is_for_round(request.round)
        and set(other.depends_on) <= set(contract.depends_on)
    )
    return variant if is_equivalent else None


def gathered(variant: BatchVariant, arguments: Sequence[ToolArguments]) -> ToolArguments:
    """Return the arguments of the variant: the list of each call's arguments, in order."""
    return {variant.argument: list(arguments)}


def spread(variant: BatchVariant, effect: Effect, outcome: ToolOutcome, count: int) -> Sequence[ToolOutcome]:
    """Return the result of each of `count` calls, in order, from the outcome of the variant.

    The variant returns a list with one item per call, or `{"results": [{index, status, data | error}]}` in any
    order. An item that is `{"error": ...}` or has the status `error` failed. If the variant failed, or its
    outcome cannot be matched with the calls, each call gets the error.
    """
    if isinstance(outcome, ToolError):
        return [_group_error(outcome, variant, count)] * count
    items = _items_by_call(outcome, count)
    if items is None:
        return [_unmatched(variant, effect, outcome, count)] * count
    return [_read_item(item, effect) for item in items]


def _items_by_call(outcome: Json, count: int) -> list[Json] | None:
    """Return one item per call, or None if the items cannot be matched with the calls."""
    if isinstance(outcome, list):
        return outcome if len(outcome) == count else None
    items = outcome.get("results") if isinstance(outcome, dict) else None
    if not isinstance(items, list) or len(items) != count:
        return None
    if not any(isinstance(item, dict) and "index" in item for item in items):
        return items
    by_index = {_index_of(item): item for item in items}
    return [by_index[index] for index in range(count)] if by_index.keys() == set(range(count)) else None


def _index_of(item: Json) -> int | None:
    index = item.get("index") if isinstance(item, dict) else None
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _read_item(item: Json, effect: Effect) -> ToolOutcome:
    if not isinstance(item, dict):
        return item
    is_envelope = item.keys() <= _ENVELOPE and item.get("status") in (None, "ok", "error")
    error = item.get("error")
    if error is not None and (is_envelope or item.get("status") == "error"):
        return _read_error(error, effect)
    if item.get("status") == "error" and item.keys() <= _ENVELOPE | _ERROR:
        reported = {name: field for name, field in item.items() if name in _ERROR}
        return _read_error(reported or "no reason was given", effect)
    return item["data"] if is_envelope and "data" in item else item


def _read_error(error: Json, effect: Effect) -> ToolError:
    """Return the error that a variant reports for one item, with its code and the error type it names or maps to."""
    if is_only_code(error):
        error = {"code": error}
    unclear_action = _ITEM_OF_A_WRITE if effect == "write" else WHAT_TO_DO["internal_error"]
    if not isinstance(error, dict):
        return tool_error("internal_error", f"The item failed: {error}", unclear_action)
    code = code_in(error.get("code"))
    error_type = _type_of(error.get("error_type"), code, effect)
    message = str(error.get("message") or f"The item failed: {code or readable(error, 500)}")
    action = error.get("suggested_action") or (unclear_action if error_type == "internal_error" else None)
    return tool_error(
        error_type,
        message,
        None if action is None else str(action),
        retry_after_s=error.get("retry_after_s"),
        fields=_fields(error.get("fields")),
        code=code,
    )


def _type_of(name: object, code: str, effect: Effect) -> ErrorType:
    if name in TOOL_ERRORS:
        error_type: ErrorType = name
        return error_type
    by_code = type_of(code)
    if effect == "write" and by_code in TRANSIENT_ERRORS:
        return "outcome_unknown"
    return by_code or "internal_error"


def _fields(error: object) -> dict[str, str]:
    """Return the errors of the arguments, bounded in number and length, for the journal and an event."""
    if not isinstance(error, dict):
        return {}
    return {readable(name, 200): readable(why, 300) for name, why in islice(error.items(), _FIELDS_MAX)}


def _group_error(error: ToolError, variant: BatchVariant, count: int) -> ToolError:
    message = f"This call was one of {count} in one call of {variant.tool}: {error.message}"
    return error.model_copy(update={"message": readable(message)})


def _unmatched(variant: BatchVariant, effect: Effect, outcome: Json, count: int) -> ToolError:
    results = outcome.get("results") if isinstance(outcome, dict) else None
    returned = outlined(outcome) + ("" if results is None else f", where `results` is {outlined(results)}")
    return tool_error(
        "internal_error",
        f"This call was run as one of {count} by {variant.tool}, and its result cannot be matched with the calls: "
        f"{returned}; it must be a list of {count}, or have `results` with each index from 0 to {count - 1} once.",
        _TOOK_EFFECT if effect == "write" else _READ_SINGLY.format(tool=variant.tool),
    )
