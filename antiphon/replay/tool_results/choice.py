"""The choice of recorded calls to repeat, with reasons for the others. Pure."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from antiphon_shared.tools.relevance import BUILT_INS

from antiphon.replay.recorded_calls import RecordedCall
from tool_dispatcher.authoring.failures import TOOL_ERRORS, TRANSIENT_ERRORS
from tool_dispatcher.authoring.tool import Tool

PLACEHOLDER = "[redacted"


class SkippedCall(NamedTuple):
    """A call that is not repeated."""

    kind: Literal["not_run", "unchecked"]
    """`not_run`: it needs no check, or must not run; `unchecked`: it needs a check, which is impossible."""
    why: str


def reason_not_repeated(one: RecordedCall, tools: Mapping[str, Tool]) -> SkippedCall | None:
    """Return why a call is not repeated; None if it is."""
    call, result = one.call, one.result
    if call.name in BUILT_INS:
        return SkippedCall("not_run", "Antiphon's own tool")
    if one.writes:
        return SkippedCall("not_run", "a write")
    is_of_tool = result.error is None or result.error.error_type in TOOL_ERRORS
    if one.is_refused or result.repeated is not None or not is_of_tool:
        return SkippedCall("not_run", "its tool was not run when it was recorded")
    tool = tools.get(call.name)
    if tool is None:
        return SkippedCall("unchecked", "the tool no longer exists")
    if tool.contract.effect == "write":
        return SkippedCall("unchecked", "it is a write now, which is never run")
    return _unknown(one)


def _unknown(one: RecordedCall) -> SkippedCall | None:
    """Return the reason why the recorded call has no comparable result; None if it has one."""
    result = one.result
    if one.arguments is None:
        return SkippedCall("unchecked", "its arguments are not in the recording")
    if holds_placeholder(one.arguments):
        return SkippedCall("unchecked", "its arguments were redacted")
    if result.handle:
        return SkippedCall("unchecked", "its result was cut")
    if result.substitute:
        return SkippedCall("unchecked", "an alternative answered it")
    if result.error is not None and result.error.error_type in TRANSIENT_ERRORS:
        return SkippedCall("unchecked", f"it failed with {result.error.error_type}, which may be temporary")
    return None


def holds_placeholder(value: object) -> bool:
    """Return whether redaction has replaced a part of a JSON value."""
    match value:
        case str():
            return PLACEHOLDER in value
        case dict():
            return any(holds_placeholder(key) or holds_placeholder(item) for key, item in value.items())
        case list():
            return any(map(holds_placeholder, value))
        case _:
            return False
