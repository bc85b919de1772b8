"""The course of a session with each of two versions of the code, in words. Pure."""

from collections import Counter
from collections.abc import Sequence

from antiphon_shared.text.excerpt import list_names

from antiphon.recording.lines import Line
from antiphon.replay.against.results import Result
from antiphon.replay.next_step import Next, recorded_end, recorded_next

_TOOLS_MAX = 5


def next_steps(before: Result, now: Result, lines: Sequence[Line]) -> tuple[Next, Next] | None:
    """Return the next step with each version; None if a version, such as an earlier release, does not report it.

    If a version decides as recorded, its next step is the recorded one, or the recorded end if the other version
    ends the session.
    """
    left, right = before.goes_on, now.goes_on
    reported = left or right
    if reported is None or (left is None and _diverges(before)) or (right is None and _diverges(now)):
        return None
    recorded = recorded_end(lines) if reported.kind == "answered" else recorded_next(lines, reported.event)
    left, right = left or recorded, right or recorded
    return None if left is None or right is None else (left, right)


def path_difference(before: Next, now: Next) -> str | None:
    """Return the new behaviour of sessions, with the verb in the plural; None if both look the same."""
    if before.kind == now.kind == "answered":
        return _ending_difference(before, now)
    if before.kind == now.kind and before.round == now.round:
        if sorted(before.tools) == sorted(now.tools):
            return None
        verb = "call" if now.kind == "calls_tools" else "offer the model"
        return f"{verb} {_tools(now)} instead of {_tools(before)} in round {now.round}"
    return f"{_does(now)} instead of {_does(before, 'ing')}"


def _ending_difference(before: Next, now: Next) -> str | None:
    reason = f"with {now.reason} instead of {before.reason}" if now.reason != before.reason else ""
    if not reason and now.status != before.status:
        reason = f"as {now.status} instead of {before.status}"
    if now.round != before.round:
        return f"end in round {now.round} instead of {before.round}" + (f", {reason}" if reason else "")
    return f"end {reason}" if reason else None


def _does(one: Next, ending: str = "") -> str:
    """Return a step of a session as words; with `ending` "ing", in the form that follows `instead of`."""
    match one.kind:
        case "answered":
            return f"end{ending} in round {one.round} ({one.reason})"
        case "asks_model":
            return f"ask{ending} the model in round {one.round}"
        case "calls_tools":
            return f"call{ending} {_tools(one)} in round {one.round}"
        case "waits":
            return f"wait{ending}"


def _tools(one: Next) -> str:
    counts = Counter(sorted(one.tools))
    names = [f"{name} ×{count}" if count > 1 else name for name, count in counts.items()]
    return list_names(names, _TOOLS_MAX) or "no tools"


def _diverges(result: Result) -> bool:
    """Return whether the coordinator sends other events than the recorded ones."""
    return any(
        one.component == "coordinator" and (one.output.startswith("antiphon.") or one.output == "outputs")
        for one in result.divergences
    )
