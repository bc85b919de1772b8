"""`antiphon dead`: messages that were set aside."""

from collections.abc import Awaitable
from typing import Annotated, Literal, TypeVar

import orjson
import typer
from antiphon_shared.bus.dead_letters import DeadLetters
from antiphon_shared.process.errors import AntiphonError, RedisUnavailable, UnreadableEvent
from antiphon_shared.text.control import visible

from antiphon.cli.output import Json, UsageError, command, print_json, print_table, run, stdout, write
from antiphon.cli.printer import one_line
from antiphon.observe import connected

ResultT = TypeVar("ResultT")

app = typer.Typer(
    no_args_is_help=True,
    help="List, requeue and delete dead letters: messages set aside after their last delivery. Their "
    "sessions continued without them.",
)
LetterId = Annotated[
    str, typer.Argument(metavar="ID", help="The id of the dead letter, from `antiphon dead list`.")
]
LetterIds = Annotated[
    list[str], typer.Argument(metavar="ID...", help="The ids of the dead letters, from `antiphon dead list`.")
]


@app.command("list")
@command
async def list_letters(
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="The limit of dead letters shown per partition.")
    ] = 100,
    json: Json = False,
) -> None:
    """List the newest dead letters, each with its reason."""
    async with connected() as bus:
        letters = await DeadLetters(bus).list(limit)
    if json:
        print_json([{"id": id, **letter.model_dump(mode="json")} for id, letter in letters])
        return
    rows = [
        (
            id,
            f"{letter.buried:%Y-%m-%d %H:%M:%S}",
            letter.component,
            letter.session_id,
            letter.event_type,
            one_line(f"{letter.error.code}: {letter.error.message}", 80),
        )
        for id, letter in letters
    ]
    print_table(("id", "set aside (UTC)", "component", "session", "event", "why"), rows, "No dead letters.")


@app.command()
@command
async def show(letter_id: LetterId, json: Json = False) -> None:
    """Show a dead letter: its details, then the whole message."""
    async with connected() as bus:
        letter, event = await _existing_letter(DeadLetters(bus).show(letter_id))
    text = event.decode("utf-8", "backslashreplace")
    if json:
        print_json({"id": letter_id, **letter.model_dump(mode="json"), "event": text})
        return
    for name, value in letter.model_dump(mode="json").items():
        stdout().print(f"{name:12} {one_line(orjson.dumps(value).decode())}")
    write(f"\n{visible(text)}\n")


@app.command()
def requeue(letter_ids: LetterIds, json: Json = False) -> None:
    """Move messages back to the inbox they came from, and count their deliveries from zero.

    \b
    antiphon dead requeue 0/1795244309110-0
    """
    run(_each(letter_ids, "requeue", json))


@app.command()
def drop(letter_ids: LetterIds, json: Json = False) -> None:
    """Delete dead letters permanently."""
    run(_each(letter_ids, "drop", json))


async def _existing_letter(action: Awaitable[ResultT]) -> ResultT:
    """Return the result of an action on a letter; report an unknown letter as a UsageError."""
    try:
        return await action
    except (RedisUnavailable, UnreadableEvent):
        raise
    except AntiphonError as error:
        raise UsageError(error.message, hint=error.hint) from None


async def _each(letter_ids: list[str], action: Literal["requeue", "drop"], is_json: bool) -> None:
    done: list[str] = []
    async with connected() as bus:
        letters = DeadLetters(bus)
        for letter_id in letter_ids:
            await _existing_letter(
                letters.requeue(letter_id) if action == "requeue" else letters.drop(letter_id)
            )
            done.append(letter_id)
            if not is_json:
                stdout().print(f"{action}: {letter_id}")
    if is_json:
        print_json({action: done})
