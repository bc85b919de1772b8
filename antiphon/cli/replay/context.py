"""`antiphon replay context`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from antiphon.cli import output
from antiphon.cli.replay.reading import recording
from antiphon.recording.context import Briefed, Context
from antiphon.recording.context import context as context_of
from shared.briefing import id_ranges
from shared.errors import AntiphonError

_HEADINGS = (
    *("EVENT", "ROUND", "LEVEL", "TOKENS", "FACTS", "SHOWN", "SHORTENED", "OMITTED"),
    *("NEW", "KEPT", "DROPPED", "BACK"),
)


def context(
    path: Annotated[Path, typer.Argument(help="A recording.")],
    facts: Annotated[bool, typer.Option("--facts", help="List what each fact says.")] = False,
    json: output.Json = False,
) -> None:
    """Tell what the model was shown in each round, and whether the answer's sources were among it.

    Exit codes: 0 told; 1 a source of the answer was not in the briefing that it was written from; 3 unreadable.
    """
    try:
        told = context_of(recording(path))
    except AntiphonError as error:
        raise typer.Exit(output.refuse(error)) from None
    if json:
        output.print_json(_as_json(told, facts))
    else:
        _show(told, facts)
    absent = told.answered_from is not None and any(one.shown == "absent" for one in told.sources)
    raise typer.Exit(output.EXIT_FAILED if absent else output.EXIT_DONE)


def _show(told: Context, with_facts: bool) -> None:
    output.print_table(_HEADINGS, map(_row, told.briefings), "No briefing was made.")
    for one in told.briefings:
        if one.missed:
            output.stdout().print(
                f"Round {one.round} had no place for {_ids(one.missed)}, close to the question."
            )
    if told.sources:
        output.stdout().print("")
        rows = [(one.source.number or "", one.source.id, one.shown, one.source.title) for one in told.sources]
        output.print_table(("SOURCE", "FACT", "SHOWN", "TITLE"), rows, "")
    if told.answered_from is None:
        output.stderr().print("No reply of a model became the answer.", style="dim")
    else:
        output.stderr().print(
            f"The answer was written from the briefing of event {told.answered_from}.", style="dim"
        )
    if with_facts:
        output.stdout().print("")
        empty = "What the facts say is not known: today's code files them otherwise."
        output.print_table(("FACT", "STATEMENT"), told.facts.items(), empty)


def _row(one: Briefed) -> tuple[object, ...]:
    omitted = one.facts - len(one.shown) if one.omitted is None else _ids(one.omitted)
    counts = (one.n, one.round, one.level, one.tokens, one.facts)
    shown = (_ids(one.shown), _ids(one.shortened), omitted)
    return (*counts, *shown, *map(_ids, (one.new, one.kept, one.dropped, one.back)))


def _ids(ids: tuple[str, ...]) -> str:
    return ", ".join(id_ranges(ids)) or "-"


def _as_json(told: Context, with_facts: bool) -> dict[str, Any]:
    return {
        "session_id": told.session_id,
        "briefings": [
            {
                "event": one.n,
                "round": one.round,
                "level": one.level,
                "tokens": one.tokens,
                "facts": one.facts,
                "shown": list(one.shown),
                "shortened": list(one.shortened),
                "omitted": None if one.omitted is None else list(one.omitted),
                "missed": list(one.missed),
                "new": list(one.new),
                "kept": list(one.kept),
                "dropped": list(one.dropped),
                "back": list(one.back),
                "shortened_now": list(one.shortened_now),
                "summaries": one.summaries,
            }
            for one in told.briefings
        ],
        "answered_from": told.answered_from,
        "sources": [
            {
                "number": one.source.number,
                "fact": one.source.id,
                "shown": one.shown,
                "title": one.source.title,
            }
            for one in told.sources
        ],
        **({"facts": told.facts} if with_facts else {}),
    }
