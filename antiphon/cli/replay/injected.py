"""`antiphon replay verify --inject`: the course of a session after a fault."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from antiphon_shared.events import AnyEvent, EventData, ReasoningRequested
from antiphon_shared.events.base import short_type
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.values import JsonObject

from antiphon.cli import event_lines, output
from antiphon.cli.printer import one_line
from antiphon.recording.files import as_text, naming, read_lines
from antiphon.recording.lines import EventLine
from antiphon.replay.injection.inject import inject, read_fault
from antiphon.replay.injection.trace import Traced, TracedStep
from antiphon.replay.reports.change_lines import printable


def show_injected(paths: Sequence[Path], fault: str, is_json: bool) -> int:
    """Report the course of each recording after the fault; return the exit code."""
    code, documents = output.EXIT_DONE, list[dict[str, Any]]()
    read_fault(fault)
    fault_name = fault.partition("@")[0]
    for path in paths:
        try:
            with naming(path):
                replaced, course = inject(list(read_lines(path)), fault)
        except AntiphonError as error:
            code = max(code, output.refuse(error))
            continue
        if is_json:
            documents.append({"path": as_text(path), **_as_json(replaced, fault_name, course)})
        else:
            _show(path, replaced, fault_name, course)
    if is_json:
        output.print_json(documents)
    return code


def _as_json(replaced: EventLine, fault_name: str, course: Traced) -> dict[str, Any]:
    return {
        "event": replaced.n,
        "type": replaced.event.type,
        "fault": fault_name,
        "steps": [
            {
                "event": _event_json(step.event),
                "component": step.component,
                "outputs": [{"type": one.type, "data": one.model_dump(mode="json")} for one in step.outputs],
                "timers": step.timers,
                "session": step.session,
            }
            for step in course.steps
        ],
        "end": course.end,
        "answer": course.answer,
    }


def _event_json(event: AnyEvent) -> dict[str, Any]:
    return {"type": event.type, "time": event.time.isoformat(), "data": event.data.model_dump(mode="json")}


def _show(path: Path, replaced: EventLine, fault_name: str, course: Traced) -> None:
    output.stdout().print(
        f"{printable(as_text(path))}: event {replaced.n}, {short_type(replaced.event.type)}, with {fault_name}"
    )
    output.print_table(("EVENT", "BY", "EFFECTS"), _rows(course.steps), "No effects.")
    last = next((step.session for step in reversed(course.steps) if step.session), None)
    if last is not None:
        output.stdout().print(_limits(last))
        for message in last["uncertainty"]:
            output.stdout().print(f"- {one_line(message)}")
    output.stdout().print(course.end)
    if course.answer is not None:
        output.stdout().print(f"\n{course.answer.status} ({course.answer.termination_reason})\n")
        output.stdout().print(course.answer.answer)


def _rows(steps: Sequence[TracedStep]) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    for step in steps:
        lines = [_format_data(one) for one in step.outputs]
        lines += [f"timer {name} at {due[11:19]}" for name, due in step.timers.items()]
        event, by = _format_data(step.event.data), step.component
        rows += [(event, by, lines[0] if lines else "none")]
        rows += [("", "", line) for line in lines[1:]]
    return rows


def _limits(snapshot: JsonObject) -> str:
    return (
        f"Round {snapshot['round']} of {snapshot['rounds_max']}, "
        f"{snapshot['tool_calls_used']} of {snapshot['tool_calls_max']} tool calls, "
        f"{snapshot['tokens_left']} tokens left, {snapshot['model_failures']} model failures"
    )


def _format_data(data: EventData) -> str:
    """Return an event in a few words; for a request to the model, the changes that the fault caused."""
    words = event_lines.detail(data)
    if isinstance(data, ReasoningRequested):
        notices = filter(
            None, (f"to {data.model}" if data.model else "", data.last_round_because, data.notice)
        )
        words = ", ".join([words, *notices])
    name = short_type(data.type)
    return f"{name}: {words}" if words else name
