"""`antiphon replay fork`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from antiphon_shared.events import ResponseReady, ToolsCompleted
from antiphon_shared.process.errors import ConfigurationError, UnreadableEvent
from antiphon_shared.process.settings import PipelineSettings, load

from antiphon.cli import output
from antiphon.cli.pipelines import split_modules
from antiphon.cli.replay.reading import own_prompt, recording
from antiphon.recording.files import write_lines
from antiphon.recording.fork import fork as fork_lines
from antiphon.recording.forking.changes import Changes, read_changes
from antiphon.recording.forking.point import Point, short_type
from antiphon.recording.lines import EventLine, Line
from antiphon.recording.redaction.redacted_lines import own_redaction, redacted
from antiphon.recording.reports.shown import printable
from antiphon.workflows.load import load as load_workflows

if TYPE_CHECKING:
    from antiphon.recording.forking.runs import RunPoint

_NAMED_MAX = 10


def fork(
    path: Annotated[Path, typer.Argument(help="A recording.")],
    into: Annotated[Path, typer.Option("--output", "-o", help="The new recording.")],
    place: Annotated[
        str,
        typer.Option(
            "--from", metavar="N", help="The last event to take over: a number, or a type and round."
        ),
    ] = "",
    node: Annotated[
        str, typer.Option("--from-node", metavar="PATH", help="Of a run: the node that begins anew.")
    ] = "",
    workflows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Of a run: the specification that it goes on with."),
    ] = None,
    model: Annotated[
        str, typer.Option(help="The model that is asked from there on; offline: the offline model.")
    ] = "",
    prompt: Annotated[Path | None, typer.Option(help="A file with another system prompt.")] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE[:NAME]", help="Where the tools are. Without it, ANTIPHON_TOOLS."),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A limit of the session, or an ANTIPHON_ setting."),
    ] = None,
    json: output.Json = False,
) -> None:
    """Go on with a recorded session from one of its events, live, with something changed.

    Model and tools are really called, as in `antiphon ask`; tools may only read, unless
    `--set ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES=read,write` says otherwise. The new recording knows its parent.

    A run of a workflow goes on from an event or from a node, also by another specification: by that, it must have
    come there in the same way. What was done stays done, and no write is made again.

    Exit codes: 0 answered, in full or in part; 1 failed; 2 not from there, or not with that; 3 unreadable.
    """
    asked = partial(_changes, model, sets or [], prompt, tools)
    output.run(_fork(path, _From(place, node, workflows), into, asked, json))


@dataclass(frozen=True, slots=True)
class _From:
    """The point of a fork, and its specification."""

    place: str
    node: str
    workflows: Path | None

    async def fork(self, parent: list[Line], changes: Changes, modules: list[str]) -> list[Line]:
        """Return the fork. Raises ConfigurationError."""
        if bool(self.place) == bool(self.node):
            raise ConfigurationError(
                "Say where to go on from.", hint="Give --from EVENT, or of a run --from-node PATH."
            )
        from antiphon.recording.forking.runs import is_run

        if not is_run(parent):
            if self.node or self.workflows:
                raise ConfigurationError(
                    "--from-node and --workflows are for runs, and this is no recording of one.",
                    hint="Use --from.",
                )
            return await fork_lines(parent, self.place, changes, modules, _tell)
        if changes.model or "prompt" in changes.told or changes.limits:
            raise ConfigurationError(
                "--model, --prompt and limits of sessions mean nothing to a run of a workflow.",
                hint="Change its specification, with --workflows, or settings, with --set ANTIPHON_...",
            )
        from antiphon.recording.fork_run import fork_run

        specification = None if self.workflows is None else load_workflows(self.workflows)
        return await fork_run(parent, self.place, self.node, specification, changes, modules, _tell)


async def _fork(
    path: Path, begin: _From, into: Path, asked: Callable[[], tuple[Changes, list[str]]], is_json: bool
) -> int:
    changes, modules = asked()
    if not into.parent.is_dir():
        raise ConfigurationError(f"The folder of {into} does not exist.", hint="Make it first.")
    parent = recording(path)
    lines = await begin.fork(parent, changes, modules)
    try:
        # Live lines may hold secrets as any session's do.
        write_lines(into, redacted(lines, own_redaction()))
    except OSError as error:
        raise UnreadableEvent(f"{into} cannot be written: {error.strerror}.") from None
    return _show(parent, lines, into, is_json)


def _changes(
    model: str, sets: list[str], prompt: Path | None, tools: list[str] | None
) -> tuple[Changes, list[str]]:
    """Return the changes, and the modules with tools. Raises ConfigurationError."""
    given = None if prompt is None else (str(prompt.absolute()), own_prompt(prompt))
    changes = read_changes(model, sets, given)
    if tools is None:
        return changes, split_modules([load(PipelineSettings).tools])
    modules = split_modules(tools)
    return replace(changes, told={**changes.told, "tools": ",".join(modules)}), modules


def _tell(point: "Point | RunPoint") -> None:
    assert point.event is not None, "a point is behind an event"
    output.stderr().print(
        f"Recorded up to event {point.event.n} ({short_type(point.event)}), live from there."
    )
    if named := _in_part(point):
        output.stderr().print(f"Shown in part, and nowhere whole for read_result: {named}.")


def _in_part(point: "Point | RunPoint") -> str:
    """Return the earlier results that no recording holds whole, by handle and tool."""
    batches = (line.event.data for line in point.lines if isinstance(line, EventLine))
    results = (one for data in batches if isinstance(data, ToolsCompleted) for one in data.results)
    named = [f"{one.handle} of {one.tool}" for one in results if one.handle]
    return printable(", ".join(named[:_NAMED_MAX]) + (" and others" if len(named) > _NAMED_MAX else ""))


def _show(parent: list[Line], lines: list[Line], into: Path, is_json: bool) -> int:
    was, answer = _answer(parent), _answer(lines)
    assert answer is not None, "a fork has ended"
    same = was is not None and was.answer == answer.answer
    if is_json:
        output.print_json({"output": str(into), "is_same_answer": same, "response": answer})
    else:
        output.stdout().print(answer.answer)
        ended = f"{answer.status} ({answer.termination_reason}), {answer.rounds_used} rounds"
        told = "the same answer as recorded" if same else "another answer than was recorded"
        output.stderr().print(
            f"{ended}; {told if was else 'the recorded session had none'}. Written to {into}."
        )
    return output.EXIT_FAILED if answer.status == "failed" else output.EXIT_DONE


def _answer(lines: list[Line]) -> ResponseReady | None:
    data = (line.event.data for line in lines if isinstance(line, EventLine))
    return next((one for one in data if isinstance(one, ResponseReady)), None)
