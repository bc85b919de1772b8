"""The display of a session while it runs, and of its answer."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

from antiphon_shared.events import (
    AnyEvent,
    ApprovalRequested,
    FallbackTaken,
    QuestionAsked,
    ReasoningCompleted,
    ReasoningFailed,
    SessionOpened,
    ToolsRequested,
)
from antiphon_shared.events.session import Response

from antiphon.cli import event_lines
from antiphon.cli.dialogue import Dialogue
from antiphon.cli.output import EXIT_DONE, EXIT_FAILED, print_json, stderr, stdout, write
from antiphon.cli.printer import Printer, one_line
from antiphon.client import TextDelta

_TAIL_LENGTH = 60
_WHY_LENGTH = 300


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
    why, wait = "", _WaitForModel()

    def lines(event: AnyEvent) -> list[str]:
        nonlocal why
        why = _why_not(event, why)
        return [*_lines(event, command, dialogue), *wait.lines(event, why)]

    await show_stream(stream, lines, _running, dialogue)
    return why


class _WaitForModel:
    """The notice of how long an unavailable model is retried, and why; once in a session."""

    def __init__(self) -> None:
        self._deadline: datetime | None = None

    def lines(self, event: AnyEvent, why: str) -> list[str]:
        match event.data:
            case SessionOpened(deadline=deadline):
                self._deadline = deadline
            case FallbackTaken(rung="waiting_for_model") if why and self._deadline is not None:
                until, self._deadline = f"{self._deadline.astimezone(UTC):%H:%M:%S} UTC", None
                return [
                    f"  retries continue until the deadline, {until}; Ctrl-C stops them. The cause: "
                    f"{one_line(why, _WHY_LENGTH)}"
                ]
        return []


async def show_stream(
    stream: AsyncIterator[AnyEvent | TextDelta],
    lines: Callable[[AnyEvent], list[str]],
    running: Callable[[AnyEvent], str],
    dialogue: Dialogue | None,
) -> None:
    """Print the lines about each event on stderr; on a terminal also show the newest text, or what is running.

    `running` returns the text about that, empty to keep the one before.
    """
    console, text = stderr(), ""
    if not console.is_terminal:
        async for item in stream:
            for line in [] if isinstance(item, TextDelta) else lines(item):
                console.print(line)
        return
    with console.status("waiting") as status:
        async for item in stream:
            if isinstance(item, TextDelta):
                text = (text + item.text)[-10 * _TAIL_LENGTH :]
                status.update(f"… {one_line(text)[-_TAIL_LENGTH:]}")
                continue
            text = ""
            for line in lines(item):
                console.print(line, style="bold" if line.startswith("round") else "dim")
            if words := running(item):
                status.update(words)
            if dialogue is not None:  # the spinner would overwrite the typed text
                status.stop() if dialogue.is_asking else status.start()


async def print_events(stream: AsyncIterator[AnyEvent | TextDelta]) -> None:
    """Print each event on a line, as JSON."""
    async for item in stream:
        if not isinstance(item, TextDelta):
            print_json(item)


def _why_not(event: AnyEvent, before: str) -> str:
    """Return the newest failure of the model, as of this event."""
    match event.data:
        case ReasoningFailed(error=error):
            # An open circuit does not name the cause, so the earlier failure is kept.
            return before if before and error.code == "circuit_open" else error.message
        case FallbackTaken(rung="facts_without_model", because=because):
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
            how = event_lines.how_to_decide(event.subject, command)
        case QuestionAsked():
            how = event_lines.how_to_answer(event.subject, command)
        case _:
            return lines
    return [*lines, *how] if dialogue is None else []


def _running(event: AnyEvent) -> str:
    """Return what runs after an event, in a few words; empty if that is as before."""
    match event.data:
        case ToolsRequested(calls=calls):
            return f"running {', '.join(sorted({one_line(call.name) for call in calls}))}"
        case ApprovalRequested() | QuestionAsked():
            return "waiting for a person"
        case data if data.inbox in (None, "coordinator"):
            return ""
        case data:
            return "reasoning" if data.inbox == "reasoning_engine" else "working"


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
        _print_list(console, "Sources that are not cited", event_lines.uncited_sources(response))
        print_uncertainty(console, response)
        console.print("")
    console.print(event_lines.statistics(response), style="dim")
    if response.status == "failed":
        return EXIT_FAILED
    if not _is_without_model(response, why_no_model):
        return EXIT_DONE
    console.print(f"antiphon: no model was available. {why_no_model}", style="red")
    return EXIT_FAILED


def print_uncertainty(console: Printer, response: Response) -> None:
    _print_list(console, "Uncertainty", event_lines.uncertainty_lines(response.uncertainty))


def _is_without_model(response: Response, why_no_model: str) -> bool:
    """Return whether the answer is empty because no model replied, or because no model was available in the end."""
    if response.termination_reason == "model_unavailable":
        return True
    is_nothing = not response.rounds_used and not response.sources
    return is_nothing and bool(why_no_model) and response.status == "partial"


def _print_list(console: Printer, heading: str, lines: list[str]) -> None:
    if lines:
        console.print(f"\n{heading}", style="bold")
        for line in lines:
            console.print(f"  {line}")
