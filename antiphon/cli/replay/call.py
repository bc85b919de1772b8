"""`antiphon replay call`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic_core import to_json

from antiphon.cli import output
from antiphon.cli.printer import one_line
from antiphon.cli.replay.own_prompt import own_prompt
from antiphon.recording.files import read_lines
from antiphon.replay.call import RECORDED, Replied
from antiphon.replay.call import call as call_again

_TEXT_MAX, _CALLS_MAX = 200, 200
_TIMES_MAX = 20
_HEADINGS = ("MODEL", "STOP", "TOKENS IN", "OUT", "COST", "SECONDS", "CALLS", "TEXT")


@output.command
async def call(
    path: Annotated[Path, typer.Argument(help="The recording.")],
    event: Annotated[
        str,
        typer.Option(
            "--event",
            metavar="N",
            help="The request to the model: an event's number, or reasoning.requested@ROUND.",
        ),
    ],
    models: Annotated[
        list[str],
        typer.Option(
            "--model", metavar="MODEL", help="The model to call; repeatable. offline: the offline model."
        ),
    ],
    prompt: Annotated[Path | None, typer.Option(help="A file with another system prompt.")] = None,
    times: Annotated[
        int, typer.Option(min=1, max=_TIMES_MAX, metavar="K", help="The number of calls of each model.")
    ] = 1,
    json: output.Json = False,
) -> int:
    """Repeat a recorded model call with several models, and compare the replies with the recorded one.

    Costs are shown for models with a price in ANTIPHON_REASONING_ENGINE_PRICES. Only models are called, no tools.

    Exit codes: 0 every model replied; 1 a model failed; 2 unknown call, or no such file; 3 unreadable.
    """
    system = None if prompt is None else own_prompt(prompt)
    replies = await call_again(list(read_lines(path)), event, models, system, times)
    if json:
        output.print_json([_as_json(one) for one in replies])
    else:
        output.print_table(_HEADINGS, map(_row, replies), "")
    has_failed = any(one.error for one in replies if one.model != RECORDED)
    return output.EXIT_FAILED if has_failed else output.EXIT_DONE


def _row(one: Replied) -> tuple[object, ...]:
    seconds = f"{one.duration_ms / 1000:.2f}"
    if one.reply is None:
        error_message = one.error.message if one.error else ""
        return (one.model, one.error.code if one.error else "", "", "", "", seconds, "", error_message)
    usage = one.reply.usage
    input_tokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    cost = "unknown" if one.cost_usd is None else f"${one.cost_usd:.4f}"
    calls = "; ".join(
        f"{call.name} {to_json(call.arguments).decode(errors='replace')}" for call in one.reply.tool_calls
    )
    text = one_line(one.reply.text, _TEXT_MAX)
    return (
        *(one.model, one.reply.stop_reason, input_tokens, usage.output_tokens, cost, seconds),
        *(one_line(calls, _CALLS_MAX), text),
    )


def _as_json(one: Replied) -> dict[str, Any]:
    reply = one.reply
    return {
        "model": one.model,
        "text": reply.text if reply else None,
        "tool_calls": [call.model_dump(mode="json") for call in reply.tool_calls] if reply else None,
        "stop_reason": reply.stop_reason if reply else None,
        "replied_model": reply.model if reply else None,
        "usage": reply.usage if reply else None,
        "cost_usd": one.cost_usd,
        "duration_ms": one.duration_ms,
        "error": one.error,
    }
