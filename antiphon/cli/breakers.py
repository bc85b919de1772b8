"""`antiphon breakers`: the open circuits, opened by failures or by a person."""

import getpass
from collections.abc import Sequence
from typing import Annotated

import typer
from antiphon_shared.breakers.breaker import CLOSED, Breaker, ForcedOpen
from antiphon_shared.breakers.table import is_name, tool_breaker
from antiphon_shared.bus.breaker_store import BreakerStore
from antiphon_shared.bus.redis_bus import Bus

from antiphon.cli.output import Json, UsageError, command, print_json, print_table, stderr, stdout
from antiphon.cli.printer import one_line
from antiphon.observe import BreakerStatus, breakers, connected, published_catalogue

app = typer.Typer(
    no_args_is_help=True,
    help="Show, open and close circuit breakers; while one is open, its tool or model is not called.",
)
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="tool:NAME or model:ID, as `antiphon breakers list` shows it.")
]
_BY_MAX, _BECAUSE_MAX = 100, 300


@app.command("list")
@command
async def list_breakers(json: Json = False) -> None:
    """List the tools and models that have failed recently. The breakers of all others are closed."""
    async with connected() as bus:
        statuses = await breakers(bus)
    if json:
        print_json(list(statuses))
    else:
        print_table(
            BREAKER_HEADINGS,
            breaker_rows(statuses),
            "All breakers are closed: no tool or model has failed recently.",
        )


@app.command("open")
@command
async def open_by_hand(
    name: Name,
    because: Annotated[str, typer.Option(help="The reason, shown by `antiphon breakers list`.")] = "",
    by: Annotated[
        str | None, typer.Option(help="Your name, for the record. Default: your login name.")
    ] = None,
    json: Json = False,
) -> None:
    """Open a breaker: no process calls this tool or model until you close it again.

    \b
    antiphon breakers open tool:search --because "the index is being rebuilt"
    """
    _check(name)
    person = _checked_text("--by", _login() if by is None else by, _BY_MAX)
    why = _checked_text("--because", because, _BECAUSE_MAX)
    async with connected() as bus:
        await _warn_of_unknown(bus, name)
        store = BreakerStore(bus.batcher, bus.keys)
        await store.set_by_hand(
            name, lambda now: Breaker().force_open(ForcedOpen(at=now, by=person, because=why))
        )
    if json:
        print_json({"name": name, "phase": "open"})
    else:
        stdout().print(f"{name} is open: it is not called until `antiphon breakers close {name}`.")


@app.command()
@command
async def close(name: Name, json: Json = False) -> None:
    """Close a breaker: calls resume at once. If they still fail, it opens again automatically."""
    _check(name)
    async with connected() as bus:
        has_changed = await BreakerStore(bus.batcher, bus.keys).set_by_hand(name, lambda _: CLOSED)
    if json:
        print_json({"name": name, "phase": "closed"})
    else:
        stdout().print(f"{name} is closed: calls resume." if has_changed else f"{name} was already closed.")


def breaker_rows(statuses: Sequence[BreakerStatus]) -> list[tuple[str, ...]]:
    """Return the rows of a table with `BREAKER_HEADINGS`."""
    return [
        (
            breaker.name,
            breaker.phase.replace("_", "-"),
            f"{breaker.failures} of {breaker.calls}",
            seconds_text(breaker.retry_in_s),
            _manual_state(breaker),
        )
        for breaker in statuses
    ]


def seconds_text(seconds: float | None) -> str:
    """Return a duration for a cell of a table; a dash for none."""
    return "-" if seconds is None else f"{seconds:.1f} s"


BREAKER_HEADINGS = ("breaker", "phase", "failures", "retry in", "manually")


def _manual_state(breaker: BreakerStatus) -> str:
    if breaker.held is None:
        return "-"
    words = [f"{breaker.held.at:%Y-%m-%d %H:%M:%S} UTC", breaker.held.by, breaker.held.because]
    return one_line(", ".join(filter(None, words)), 200)


def _check(name: str) -> None:
    if not is_name(name):
        raise UsageError(
            f"{one_line(name, 100)!r} is not the name of a breaker.",
            hint="Use tool:NAME or model:ID, such as tool:search. `antiphon breakers list` shows "
            "those that failed.",
        )


def _checked_text(option: str, text: str, length_max: int) -> str:
    """Return a person's text on one line. Raises UsageError for one that is too long."""
    line = one_line(text)
    if len(line) > length_max:
        raise UsageError(
            f"{option} has {len(line)} characters.", hint=f"Shorten it to {length_max} characters."
        )
    return line


def _login() -> str:
    try:
        return getpass.getuser()[:_BY_MAX]
    except (OSError, KeyError, ImportError):  # a container's user may have no name
        return ""


async def _warn_of_unknown(bus: Bus, name: str) -> None:
    """Warn about an unknown tool: it may come with the next dispatcher, but a misspelt name is more likely."""
    if not name.startswith("tool:"):
        return
    catalogue = await published_catalogue(bus)
    if catalogue is not None and name not in {tool_breaker(tool.name) for tool in catalogue.tools}:
        stderr().print(f"No dispatcher currently offers {name.removeprefix('tool:')}.", style="yellow")
