"""`antiphon replay context`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from antiphon_shared.memory.briefing import id_ranges
from antiphon_shared.process.errors import AntiphonError

from antiphon.cli import output
from antiphon.cli.replay.verify_options import Paths
from antiphon.recording.files import as_text, naming, read_lines
from antiphon.recording.recording_paths import find_recordings
from antiphon.replay.context import BriefingFacts, Context
from antiphon.replay.context import context as context_of
from antiphon.replay.reports.change_lines import printable

_HEADINGS = (
    *("EVENT", "ROUND", "LEVEL", "TOKENS", "FACTS", "SHOWN", "SHORTENED", "OMITTED"),
    *("NEW", "KEPT", "DROPPED", "BACK"),
)


@output.command
def context(
    paths: Paths,
    facts: Annotated[bool, typer.Option("--facts", help="List the text of each fact.")] = False,
    json: output.Json = False,
) -> int:
    """Show the context of the model in each round, and check that it contained the answer's sources.

    Exit codes: 0 done; 1 a source of an answer was missing from the briefing of that answer; 2 no such file, or
    no recordings in a folder; 3 a recording is unreadable.
    """
    code, documents = output.EXIT_DONE, list[dict[str, Any]]()
    for path in find_recordings(paths):
        try:
            with naming(path):
                result = context_of(read_lines(path))
        except AntiphonError as error:
            code = max(code, output.refuse(error))
            continue
        if json:
            documents.append({"path": as_text(path), **_as_json(result, facts)})
        else:
            _show(path, result, facts)
        if result.answered_from is not None and any(one.shown == "absent" for one in result.sources):
            code = max(code, output.EXIT_FAILED)
    if json:
        output.print_json(documents)
    return code


def _show(path: Path, result: Context, with_facts: bool) -> None:
    output.stdout().print(f"{printable(as_text(path))}: session {result.session_id}")
    output.print_table(_HEADINGS, map(_row, result.briefings), "The session has no briefing.")
    for one in result.briefings:
        if one.missed:
            output.stdout().print(
                f"Round {one.round} omitted {_ids(one.missed)}, which rank close to the question."
            )
    if result.sources:
        output.stdout().print("")
        rows = [
            (one.source.number or "", one.source.id, one.shown, one.source.title) for one in result.sources
        ]
        output.print_table(("SOURCE", "FACT", "SHOWN", "TITLE"), rows, "")
    if result.answered_from is None:
        output.stderr().print("The answer does not come from a model's reply.", style="dim")
    else:
        output.stderr().print(
            f"The answer is based on the briefing of event {result.answered_from}.", style="dim"
        )
    if with_facts:
        output.stdout().print("")
        empty = "The text of the facts is unavailable: the current code files them differently."
        output.print_table(("FACT", "STATEMENT"), result.facts.items(), empty)


def _row(one: BriefingFacts) -> tuple[object, ...]:
    omitted = one.facts - len(one.shown) if one.omitted is None else _ids(one.omitted)
    counts = (one.event, one.round, one.level, one.tokens, one.facts)
    changes = (_ids(one.shown), _ids(one.shortened), omitted)
    return (*counts, *changes, *map(_ids, (one.new, one.retained, one.dropped, one.back)))


def _ids(ids: tuple[str, ...]) -> str:
    return ", ".join(id_ranges(ids)) or "-"


def _as_json(result: Context, with_facts: bool) -> dict[str, Any]:
    return {
        "session_id": result.session_id,
        "briefings": [{**asdict(one), "kept": one.retained} for one in result.briefings],
        "answered_from": result.answered_from,
        "sources": [
            {
                "number": one.source.number,
                "fact": one.source.id,
                "shown": one.shown,
                "title": one.source.title,
            }
            for one in result.sources
        ],
        **({"facts": result.facts} if with_facts else {}),
    }
