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
from antiphon.replay.injection.inject import Chain, inject, read_fault
from antiphon.replay.injection.trace import TracedStep
from antiphon.replay.reports.change_lines import printable


def show_injected(paths: Sequence[Path], fault: str, is_json: bool) -> int:
    """Report the course of each recording after the fault; return the exit code."""
    code, documents = output.EXIT_DONE, list[dict[str, Any]]()
    read_fault(fault)
    for path in paths:
        try:
            with naming(path):
                chain = inject(list(read_lines(path)), fault)
        except AntiphonError as error:
            code = max(code, output.refuse(error))
            continue
        if is_json:
            documents.append({"path": as_text(path), **as_json(chain)})
        else:
            _show(path, chain)
    if is_json:
        output.print_json(documents)
    return code


def as_json(chain: Chain) -> dict[str, Any]:
    """Return the chain as plain values."""
    return {
        "event": chain.n,
        "type": chain.type,
        "fault": chain.fault,
        "steps": [
            {
                "event": _event_json(step.event),
                "component": step.component,
                "outputs": [{"type": one.type, "data": one.model_dump(mode="json")} for one in step.outputs],
                "timers": step.timers,
                "session": step.session,
            }
            for step in chain.steps
        ],
        "end": chain.end,
        "answer": chain.answer,
    }


def _event_json(event: AnyEvent) -> dict[str, Any]:
    return {"type": event.type, "time": event.time.isoformat(), "data": event.data.model_dump(mode="json")}


def _show(path: Path, chain: Chain) -> None:
    output.stdout().print(
        f"{printable(as_text(path))}: event {chain.n}, {short_type(chain.type)}, with {chain.fault}"
    )
    output.print_table(("EVENT", "BY", "EFFECTS"), _rows(chain.steps), "No effects.")
    last = next((step.session for step in reversed(chain.steps) if step.session), None)
    if last is not None:
        output.stdout().print(_limits(last))
        for message in last["uncertainty"]:
            output.stdout().print(f"- {one_line(message)}")
    output.stdout().print(chain.end)
    if chain.answer is not None:
        output.stdout().print(f"\n{chain.answer.status} ({chain.answer.termination_reason})\n")
        output.stdout().print(chain.answer.answer)


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
