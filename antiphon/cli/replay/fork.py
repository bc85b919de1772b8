"""`antiphon replay fork`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated

import typer
from antiphon_shared.events import ResponseReady, ToolsCompleted
from antiphon_shared.events.base import short_type
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.text.excerpt import list_names

from antiphon.cli import output
from antiphon.cli.pipelines import split_modules
from antiphon.cli.replay.own_prompt import own_prompt
from antiphon.cli.workflows.sources import show_problems
from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import Line, data_in
from antiphon.recording.settings import own_redaction
from antiphon.replay.forking.changes import Changes, read_changes
from antiphon.replay.forking.fork_session import fork as fork_lines
from antiphon.replay.forking.point import Point
from antiphon.replay.redacted_lines import redacted
from antiphon.replay.reports.change_lines import printable
from antiphon.workflows.load import InvalidWorkflow
from antiphon.workflows.load import load as load_workflows

if TYPE_CHECKING:
    from antiphon.replay.forking.run_point import RunPoint

_HANDLES_MAX = 10

ToolModules = Annotated[
    list[str] | None,
    typer.Option(metavar="MODULE[:NAME]", help="The module with the tools. Default: ANTIPHON_TOOLS."),
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A limit of the session, or an ANTIPHON_ setting."),
]


@output.command
async def fork(
    path: Annotated[Path, typer.Argument(help="The recording.")],
    *,
    into: Annotated[Path, typer.Option("--output", "-o", help="The file for the new recording.")],
    event: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="N",
            help="The last event to keep: a number, or a type and round, such as tools.completed@2.",
        ),
    ] = "",
    node: Annotated[
        str, typer.Option("--from-node", metavar="PATH", help="For runs: the node that starts again.")
    ] = "",
    workflows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For runs: the workflow file to continue with."),
    ] = None,
    model: Annotated[
        str, typer.Option(help="The model for the rest of the session; offline: the offline model.")
    ] = "",
    prompt: Annotated[Path | None, typer.Option(help="A file with another system prompt.")] = None,
    tools: ToolModules = None,
    sets: Sets = None,
    json: output.Json = False,
) -> int:
    """Continue a recorded session live from one of its events, with a change.

    The model and the tools are called, as in `antiphon ask`. Tools that write are not allowed without
    `--set ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES=read,write`. The new recording names its parent.

    A workflow run continues from an event or a node, optionally with another workflow file, whose decisions must
    equal the recorded ones up to there. Completed nodes and writes are not repeated.

    Exit codes: 0 answered, in full or in part; 1 failed; 2 no such file, a point or change that is not possible, or
    an output that cannot be written; 3 unreadable.
    """
    changes, modules = _changes(model, sets or [], prompt, tools)
    _check_target(into)
    parent = list(read_lines(path))
    try:
        lines = await _continued(parent, event, node, workflows, changes, modules)
    except InvalidWorkflow as invalid:
        return max(output.EXIT_USAGE, show_problems(invalid.problems))
    with _written(into):
        # Live lines may hold secrets, like the lines of any session.
        write_lines(into, redacted(lines, own_redaction()))
    return _show(parent, lines, into, json)


async def _continued(
    parent: list[Line], event: str, node: str, workflows: Path | None, changes: Changes, modules: list[str]
) -> list[Line]:
    """Return the fork of a session or run. Raises ConfigurationError and InvalidWorkflow."""
    if bool(event) == bool(node):
        raise ConfigurationError(
            "The point to continue from is missing.",
            hint="Use --from EVENT, or --from-node PATH for a run.",
        )
    from antiphon.replay.forking.run_point import is_run

    if not is_run(parent):
        if node or workflows:
            raise ConfigurationError(
                "--from-node and --workflows need the recording of a run; this is the recording "
                "of a session.",
                hint="Use --from.",
            )
        return await fork_lines(parent, event, changes, modules, _tell)
    if changes.model or "prompt" in changes.by_option or changes.limits:
        raise ConfigurationError(
            "--model, --prompt and session limits do not apply to a workflow run.",
            hint="Change its workflow file with --workflows, or settings with --set ANTIPHON_...",
        )
    from antiphon.replay.forking.fork_run import fork_run

    specification = None if workflows is None else load_workflows(workflows)
    return await fork_run(
        parent,
        event,
        node,
        specification=specification,
        changes=changes,
        tools=modules,
        on_start=_tell,
    )


def _check_target(into: Path) -> None:
    """Raise ConfigurationError if the recording could not be written, before anything is called."""
    if not into.parent.is_dir():
        raise ConfigurationError(f"The folder of {into} does not exist.", hint="Create it first.")
    if into.is_dir():
        raise ConfigurationError(f"{into} is a folder.", hint="Name the file of the new recording.")
    with _written(into):
        TemporaryFile(dir=into.parent).close()


@contextmanager
def _written(into: Path) -> Iterator[None]:
    """Raise ConfigurationError if a file cannot be written within the block."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"{into} cannot be written: {error.strerror}.") from None


def _changes(
    model: str, sets: list[str], prompt: Path | None, tools: list[str] | None
) -> tuple[Changes, list[str]]:
    """Return the changes, and the modules with tools. Raises ConfigurationError."""
    own = None if prompt is None else (str(prompt.absolute()), own_prompt(prompt))
    changes = read_changes(model, sets, own)
    if tools is None:
        return changes, split_modules([load(PipelineSettings).tools])
    modules = split_modules(tools)
    return replace(changes, by_option={**changes.by_option, "tools": ",".join(modules)}), modules


def _tell(point: "Point | RunPoint") -> None:
    assert point.event is not None, "a point is after an event"
    output.stderr().print(
        f"Recorded up to event {point.event.n} ({short_type(point.event.event.type)}), then live."
    )
    if handles := _partial_results(point):
        output.stderr().print(f"Only partly recorded, so that read_result cannot return the rest: {handles}.")


def _partial_results(point: "Point | RunPoint") -> str:
    """Return the handle and tool of each earlier result of which the recording holds only a part."""
    results = (one for batch in data_in(point.lines, ToolsCompleted) for one in batch.results)
    handles = [f"{one.handle} of {one.tool}" for one in results if one.handle]
    return printable(list_names(handles, _HANDLES_MAX))


def _show(parent: list[Line], lines: list[Line], into: Path, is_json: bool) -> int:
    was, answer = (next(data_in(one, ResponseReady), None) for one in (parent, lines))
    assert answer is not None, "a fork has ended"
    same = was is not None and was.answer == answer.answer
    if is_json:
        output.print_json({"output": str(into), "is_same_answer": same, "response": answer})
    else:
        output.stdout().print(answer.answer)
        ended = (
            f"{answer.status} ({answer.termination_reason}), {output.counted(answer.rounds_used, 'round')}"
        )
        compared = "the same answer as recorded" if same else "another answer than was recorded"
        output.stderr().print(
            f"{ended}; {compared if was else 'the recorded session has no answer'}. Written to {into}."
        )
    return output.EXIT_FAILED if answer.status == "failed" else output.EXIT_DONE
