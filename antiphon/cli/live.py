"""The display of a session while it runs, and of its answer."""

from collections.abc import AsyncIterator

from antiphon_shared.events import (
    AnyEvent,
    ApprovalRequested,
    QuestionAsked,
    ReasoningCompleted,
    ReasoningFailed,
    RungTaken,
    ToolsRequested,
)
from antiphon_shared.events.session import Response

from antiphon.cli import event_lines
from antiphon.cli.dialogue import Dialogue
from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    StatusLine,
    one_line,
    print_json,
    stderr,
    stdout,
    write,
)
from antiphon.client import TextDelta

_TAIL_LENGTH = 60


async def show_progress(
    stream: AsyncIterator[AnyEvent | TextDelta],
    command: str = "antiphon",
    dialogue: Dialogue | None = None,
) -> str:
    """Print the session's rounds and calls on stderr as they happen, with a spinner on a terminal.

    Returns the reason why the model was unavailable at the end; empty if it replied. `command` is the
    command by which another terminal reaches the session; empty if none can. With a `dialogue` the person
    at this terminal is asked instead.
    """
    console, why = stderr(), ""
    if not console.is_terminal:
        async for said in stream:
            if not isinstance(said, TextDelta):
                why = _why_not(said, why)
                for line in _lines(said, command, dialogue):
                    console.print(line)
        return why
    with console.status("waiting") as status:
        text = ""
        async for said in stream:
            if isinstance(said, TextDelta):
                text = (text + said.text)[-10 * _TAIL_LENGTH :]
                status.update(f"… {one_line(text)[-_TAIL_LENGTH:]}")
                continue
            text, why = "", _why_not(said, why)
            for line in _lines(said, command, dialogue):
                console.print(line, style="bold" if line.startswith("round") else "dim")
            _show_running_call(status, said)
            if dialogue is not None:  # the spinner would overwrite the typed text
                status.stop() if dialogue.is_asking else status.start()
    return why


def _why_not(event: AnyEvent, before: str) -> str:
    """Return the newest failure of the model, as of this event."""
    match event.data:
        case ReasoningFailed(error=error):
            # An open circuit says less than the failure before it.
            return before if before and error.code == "circuit_open" else error.message
        case RungTaken(rung="facts_without_model", because=because):
            return before or because
        case ReasoningCompleted():
            return ""
        case _:
            return before


def _lines(event: AnyEvent, command: str, dialogue: Dialogue | None) -> list[str]:
    """Return the lines for an event; a dialogue prints its own questions."""
    if dialogue is not None:
        dialogue.hear(event)
    lines = event_lines.progress(event.data)
    match event.data:
        case ApprovalRequested():
            verdict, how = "approved", event_lines.how_to_decide(event.subject, command)
        case QuestionAsked():
            verdict, how = "answered", event_lines.how_to_answer(event.subject, command)
        case _:
            return lines
    if dialogue is not None:
        return []
    if not command:
        said = f"    cannot be {verdict}: other programs cannot reach this pipeline. Press Ctrl-C to end it."
        return [*lines, said]
    return [*lines, *how]


def _show_running_call(status: StatusLine, event: AnyEvent) -> None:
    inbox = event.data.inbox
    if isinstance(event.data, ToolsRequested):
        status.update(f"running {', '.join(sorted({one_line(call.name) for call in event.data.calls}))}")
    elif isinstance(event.data, ApprovalRequested | QuestionAsked):
        status.update("waiting for a person")
    elif inbox is not None and inbox != "coordinator":
        status.update({"reasoning_engine": "reasoning"}.get(inbox, "working"))


def show_answer(response: Response, is_json: bool, why_no_model: str = "") -> int:
    """Print the answer on stdout and its details on stderr; return the exit code.

    `why_no_model`: the last failure of the model, if any.
    """
    if is_json:
        print_json(response)
    elif stdout().is_terminal:
        stdout().markdown(response.answer)
    else:
        write(response.answer.rstrip("\n") + "\n")
    console = stderr()
    if not is_json:
        _print_list("Sources that are not cited", event_lines.uncited_sources(response))
        _print_list("Uncertainty", event_lines.doubts(response.uncertainty))
        console.print("")
    console.print(event_lines.statistics(response), style="dim")
    if response.status == "failed":
        return EXIT_FAILED
    if not _is_without_model(response, why_no_model):
        return EXIT_DONE
    console.print(f"antiphon: no model was available. {why_no_model}", style="red")
    return EXIT_FAILED


def _is_without_model(response: Response, why_no_model: str) -> bool:
    """Return whether the answer is empty because no model replied, or because no model was available any more."""
    if response.termination_reason == "model_unavailable":
        return True
    is_nothing = not response.rounds_used and not response.sources
    return is_nothing and bool(why_no_model) and response.status == "partial"


def _print_list(heading: str, lines: list[str]) -> None:
    console = stderr()
    if lines:
        console.print(f"\n{heading}", style="bold")
        for line in lines:
            console.print(f"  {line}")
