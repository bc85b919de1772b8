"""`antiphon breakers`: the open circuits, opened by failures or by a person."""

import getpass
from collections.abc import Sequence
from typing import Annotated

import typer
from antiphon_shared.breakers.breaker import CLOSED, Breaker, Held
from antiphon_shared.breakers.table import is_name, of_tool
from antiphon_shared.bus.breaker_store import BreakerStore
from antiphon_shared.bus.redis_bus import Bus

from antiphon.cli.output import Json, UsageError, one_line, print_json, print_table, run, stderr, stdout
from antiphon.observe import BreakerStatus, breakers, connected

app = typer.Typer(
    no_args_is_help=True,
    help="Circuit breakers: which tools and models are left alone, because they fail or because you say so.",
)
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="tool:NAME or model:ID, as `antiphon breakers list` shows it.")
]
_BY_MAX, _BECAUSE_MAX = 100, 300


@app.command("list")
def list_breakers(json: Json = False) -> None:
    """Every tool and model that has failed lately. What is not listed is closed: calls go through."""
    run(_list(json))


@app.command("open")
def open_by_hand(
    name: Name,
    because: Annotated[str, typer.Option(help="Why, for those who look later.")] = "",
    by: Annotated[str | None, typer.Option(help="Who; your login when left out.")] = None,
    json: Json = False,
) -> None:
    """Have a tool or model left alone by all processes, until you close its breaker again.

    \b
    antiphon breakers open tool:search --because "the index is being rebuilt"
    """
    run(_open(name, because, by, json))


@app.command()
def close(name: Name, json: Json = False) -> None:
    """Have a tool or model called again, at once. If it still fails, its breaker opens again by itself."""
    run(_close(name, json))


def breaker_rows(found: Sequence[BreakerStatus]) -> list[tuple[str, ...]]:
    """Return the rows of a table with `BREAKER_HEADINGS`."""
    return [
        (
            breaker.name,
            breaker.phase.replace("_", "-"),
            f"{breaker.failures} of {breaker.calls}",
            "-" if breaker.retry_in_s is None else f"{breaker.retry_in_s:.1f} s",
            _by_hand(breaker),
        )
        for breaker in found
    ]


BREAKER_HEADINGS = ("breaker", "phase", "failures", "retry in", "by hand")


def _by_hand(breaker: BreakerStatus) -> str:
    if breaker.held is None:
        return "-"
    said = [f"{breaker.held.at:%Y-%m-%d %H:%M:%S} UTC", breaker.held.by, breaker.held.because]
    return one_line(", ".join(filter(None, said)), 200)


async def _list(is_json: bool) -> None:
    async with connected() as bus:
        found = await breakers(bus)
    if is_json:
        print_json(list(found))
    else:
        print_table(BREAKER_HEADINGS, breaker_rows(found), "Nothing has failed lately: all are closed.")


async def _open(name: str, because: str, by: str | None, is_json: bool) -> None:
    _check(name)
    who, why = (
        _said("--by", _login() if by is None else by, _BY_MAX),
        _said("--because", because, _BECAUSE_MAX),
    )
    async with connected() as bus:
        await _warn_of_unknown(bus, name)
        store = BreakerStore(bus.batcher, bus.keys)
        await store.set_by_hand(name, lambda now: Breaker().hold(Held(at=now, by=who, because=why)))
    if is_json:
        print_json({"name": name, "phase": "open"})
    else:
        stdout().print(f"{name} is open: it is left alone until `antiphon breakers close {name}`.")


async def _close(name: str, is_json: bool) -> None:
    _check(name)
    async with connected() as bus:
        has_changed = await BreakerStore(bus.batcher, bus.keys).set_by_hand(name, lambda _: CLOSED)
    if is_json:
        print_json({"name": name, "phase": "closed"})
    else:
        stdout().print(
            f"{name} is closed: it is called again." if has_changed else f"{name} was closed already."
        )


def _check(name: str) -> None:
    if not is_name(name):
        raise UsageError(
            f"{one_line(name, 100)!r} is no breaker's name.",
            hint="Write tool:NAME or model:ID, as in tool:search; `antiphon breakers list` shows those that failed.",
        )


def _said(option: str, text: str, length_max: int) -> str:
    """Return a person's text on one line. Raises UsageError for one that is too long."""
    line = one_line(text)
    if len(line) > length_max:
        raise UsageError(f"{option} has {len(line)} characters.", hint=f"Say it in {length_max} at most.")
    return line


def _login() -> str:
    try:
        return getpass.getuser()[:_BY_MAX]
    except (OSError, KeyError, ImportError):  # a container's user may have no name
        return ""


async def _warn_of_unknown(bus: Bus, name: str) -> None:
    """Warn about an unknown tool: it may come with the next dispatcher, but a misspelt name is more likely."""
    content_hash = await bus.current_catalogue()
    if content_hash is None or not name.startswith("tool:"):
        return
    tools = {of_tool(tool.name) for tool in (await bus.catalogue(content_hash)).tools}
    if name not in tools:
        stderr().print(f"No dispatcher offers {name.removeprefix('tool:')} right now.", style="yellow")
