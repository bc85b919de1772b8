"""`antiphon recipes learn`: make a workflow of sessions that succeeded, and store it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from antiphon_shared.process import logs
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.redaction.secret_values import secret_values
from antiphon_shared.workflows.params import short_json
from antiphon_shared.workflows.recipe import Recipe

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    Json,
    UsageError,
    print_json,
    print_table,
    run,
    stderr,
    write,
    write_file,
)
from antiphon.cli.printer import one_line
from antiphon.errors import AlreadyThere
from antiphon.observe import connected
from antiphon.recipes.chain import Chain, chain_of
from antiphon.recipes.follow import Follower
from antiphon.recipes.learn import Learned, learn
from antiphon.recipes.recent import Recent, chain_of_session, learn_recent
from antiphon.recipes.settings import RecipeSettings
from antiphon.recipes.store import RecipeStore
from antiphon.recording.files import naming, read_lines
from antiphon.recording.recording_paths import ENDINGS
from antiphon.submission import checked_session_id

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


SessionsOrFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SESSION_OR_RECORDING...",
        help="The ids of finished sessions, or recordings (.jsonl, .jsonl.gz). Several make one "
        "recipe together.",
    ),
]
RecentCount = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1_000,
        metavar="N",
        help="Learn from the complete sessions among the N newest; those with the same calls "
        "make one recipe together.",
    ),
]
Follow = Annotated[
    bool,
    typer.Option(
        "--follow",
        help="Keep running, and learn from each session when it is complete, until SIGTERM or Ctrl-C.",
    ),
]
RecipeName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The name of the recipe. Default: a name built from its calls."),
]
RecipeFile = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Also write the recipe to this file."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the recipe without storing it in Redis.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace an existing recipe with the same name.")]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The outcome of storing a learned recipe."""

    is_stored: bool = False
    removed: tuple[str, ...] = ()
    """The recipes that were removed for it."""
    why_not: str = ""
    """Why it was not stored, other than by a dry run."""


def learn_recipe(
    sessions: SessionsOrFiles = None,
    *,
    recent: RecentCount = None,
    is_following: Follow = False,
    name: RecipeName = None,
    output: RecipeFile = None,
    is_dry: DryRun = False,
    may_replace: Replace = False,
    json: Json = False,
) -> None:
    """Turn the calls of finished sessions into a workflow, and store it as a recipe.

    An argument from the question becomes a param, and one from an earlier result becomes a reference to it. Other
    arguments stay constant and are listed on stderr. Arguments that differ between several sessions become params.

    Exit codes: 0 learned; 1 the sessions make no recipe; 2 unknown session, no such file, or the name is taken;
    3 unreadable file, or cannot connect to Redis.

    \b
    antiphon recipes learn SESSION_ID --name book_flight
    antiphon recipes learn one.jsonl two.jsonl --dry-run
    antiphon recipes learn --recent 100
    antiphon recipes learn --follow
    """
    if is_following:
        others = (sessions, recent, name, output, is_dry, may_replace, json)
        run(_follow(is_default=not any(others)))
    elif recent is None:
        run(_learn(sessions or [], name, output, is_dry, may_replace, json))
    else:
        are_defaults = not sessions and name is None and output is None
        run(_learn_recent(recent, is_dry, may_replace, json, are_defaults=are_defaults))


async def _learn(
    sessions: Sequence[str], name: str | None, file: Path | None, is_dry: bool, may_replace: bool, json: bool
) -> int:
    if name is not None and not _NAME.fullmatch(name):
        raise UsageError(
            f"--name {one_line(name, 80)!r} is not a valid name.",
            hint="Use at most 64 letters, digits and _; do not begin with a digit.",
        )
    if not sessions:
        raise UsageError("no sessions were named.", hint="Name sessions or recordings, or use --recent N.")
    outcome = _Outcome()
    if is_dry and all(map(_is_file, sessions)):
        learned = learn([_read(one) for one in dict.fromkeys(sessions)], name)
    else:
        async with connected() as bus:
            chains = [
                _read(one) if _is_file(one) else await chain_of_session(bus, checked_session_id(one))
                for one in dict.fromkeys(sessions)
            ]
            learned = learn(chains, name)
            outcome = await _store(RecipeStore(bus), learned.recipe, is_dry, may_replace)
    if file is not None:
        write_file(file, learned.text, "--output")
    if json:
        print_json(_as_json(learned, outcome))
        return EXIT_DONE
    write(learned.text)
    _report(learned, outcome)
    return EXIT_DONE


async def _follow(*, is_default: bool) -> None:
    if not is_default:
        raise UsageError("--follow cannot be combined with sessions or other options.")
    settings, pipeline = load(RecipeSettings), load(PipelineSettings)
    logs.configure(pipeline.log_level, "recipes", secret_values(pipeline), pipeline.log_format)
    async with connected() as bus:
        await Follower(bus, settings.kept).run()


async def _learn_recent(
    count: int, is_dry: bool, may_replace: bool, is_json: bool, *, are_defaults: bool
) -> int:
    if not are_defaults:
        raise UsageError(
            "--recent cannot be combined with sessions, --name or --output.",
            hint="It can make several recipes, each named after its calls.",
        )
    async with connected() as bus:
        store = RecipeStore(bus)
        recent = await learn_recent(bus, count, await store.learned_from())
        outcomes = [await _store_if_free(store, one.recipe, is_dry, may_replace) for one in recent.learned]
    learned = [*zip(recent.learned, outcomes, strict=True)]
    refused = [{"session": id, "because": why} for id, why in recent.refused]
    if is_json:
        print_json({"recipes": [_as_json(one, outcome) for one, outcome in learned], "refused": refused})
    else:
        rows = [
            (one.recipe.name, ", ".join(one.recipe.learned_from), "yes" if outcome.is_stored else "no")
            for one, outcome in learned
        ]
        print_table(("name", "learned from", "kept"), rows, "No recipes.")
        _report_all(recent, learned)
    return EXIT_DONE if recent.learned else EXIT_FAILED


async def _store(store: RecipeStore, recipe: Recipe, is_dry: bool, may_replace: bool) -> _Outcome:
    """Store a recipe unless `is_dry`. Raises AlreadyThere."""
    if is_dry:
        return _Outcome()
    removed = await store.store(recipe, load(RecipeSettings).kept, may_replace=may_replace)
    return _Outcome(is_stored=True, removed=removed)


async def _store_if_free(store: RecipeStore, recipe: Recipe, is_dry: bool, may_replace: bool) -> _Outcome:
    """Store a recipe unless `is_dry`, or its name is taken."""
    try:
        return await _store(store, recipe, is_dry, may_replace)
    except AlreadyThere as error:
        return _Outcome(why_not=error.message)


def _report_all(recent: Recent, learned: Sequence[tuple[Learned, _Outcome]]) -> None:
    say = stderr()
    for one, outcome in learned:
        _warn_of_removed(outcome.removed)
        if outcome.why_not:
            words = f"{one.recipe.name} was not stored: {outcome.why_not} Use --replace to replace it."
            say.print(one_line(words), style="yellow")
    for session_id, why in recent.refused:
        say.print(one_line(f"{session_id}: {why}"), style="dim")


def _is_file(source: str) -> bool:
    return source.endswith(ENDINGS) or Path(source).is_file()


def _read(source: str) -> Chain:
    with naming(path := Path(source)):
        return chain_of(read_lines(path))


def _report(learned: Learned, outcome: _Outcome) -> None:
    say = stderr()
    for node, argument, value in learned.fixed:
        say.print(one_line(f"{node}: {argument} is always {short_json(value)}."), style="dim")
    for tool, why in learned.left_out:
        say.print(one_line(f"A call of {tool} was omitted: {why}."), style="dim")
    _warn_of_removed(outcome.removed)
    name = one_line(learned.recipe.name)
    words = f"Stored as {name}." if outcome.is_stored else f"{name} was not stored: this was a dry run."
    say.print(words, style="dim")


def _warn_of_removed(names: Sequence[str]) -> None:
    for name in names:
        words = f"{name} was removed: the limit of stored recipes is reached."
        stderr().print(one_line(words), style="yellow")


def _as_json(learned: Learned, outcome: _Outcome) -> dict[str, Any]:
    return {
        "name": learned.recipe.name,
        "is_kept": outcome.is_stored,
        **({"because": outcome.why_not} if outcome.why_not else {}),
        "learned_from": list(learned.recipe.learned_from),
        "file": learned.recipe.file,
        "fixed": [
            {"node": node, "argument": argument, "value": value} for node, argument, value in learned.fixed
        ],
        "left_out": [{"tool": tool, "because": why} for tool, why in learned.left_out],
        "gone": list(outcome.removed),
    }
