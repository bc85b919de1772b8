"""`antiphon ask` and `antiphon submit`."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from functools import partial

from antiphon_shared.events.session import Response
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.ids import new_id
from antiphon_shared.process.settings import BusSettings, PipelineSettings, load
from redis.exceptions import RedisError

from antiphon.cli import query_options
from antiphon.cli.dialogue import Dialogue
from antiphon.cli.input_files import read_grant, read_query, read_schema, read_step_file
from antiphon.cli.live import show_answer, show_progress
from antiphon.cli.output import EXIT_INTERRUPTED, Json, UsageError, command, print_json, run, stderr, write
from antiphon.cli.pipelines import (
    cancelled,
    client_of,
    command_of,
    introduce,
    queued_but_cancelled,
)
from antiphon.client import Antiphon
from antiphon.submission import Options, submission


@query_options.takes_question
def ask(
    query: query_options.Query,
    question_options: query_options.QuestionOptions,
    *,
    interactive: query_options.Interactive = False,
    tools: query_options.ToolModules = None,
    model: query_options.Model = None,
    scope: query_options.Scopes = None,
    json: Json = False,
) -> None:
    """Ask a question and wait for the answer.

    It uses the running pipeline when ANTIPHON_REDIS_URL is set. Otherwise it runs a private pipeline for this
    question, on a private redis-server, or on fakeredis where redis-server is not installed.

    The answer goes to stdout, everything else to stderr. Ctrl-C cancels the session and prints the results so far;
    a second Ctrl-C exits at once.
    Exit codes: 0 answered, in full or in part; 1 failed, no model available, or too many queries waiting; 2 usage
    error; 3 cannot connect to Redis; 130 cancelled.

    \b
    antiphon ask "Which course covers the same topic as lesson 4 of course X?" --tools examples.courses
    antiphon ask "..." --tools my_tools --model offline --max-rounds 3 --json > answer.json
    antiphon ask "..." --tools examples.crm --scope read --scope write
    antiphon ask "And how long is it?" --conversation $id
    antiphon ask "Move my booking." --interactive --deadline 3600
    antiphon ask "Which harbour is it, and when does it close?" --output-schema harbour.json --json
    """
    new_client = partial(client_of, tools, model, scope)
    run(_ask(query, question_options, new_client, is_interactive=interactive, is_json=json))


@query_options.takes_question
@command
async def submit(
    query: query_options.Query,
    question_options: query_options.QuestionOptions,
    interactive: query_options.InteractiveSession = False,
    json: Json = False,
) -> None:
    """Submit a question to the running pipeline, and print the session's id without waiting for the answer.

    \b
    id=$(antiphon submit "Which course ...?")
    antiphon sessions watch $id
    """
    text, options, grant = _checked(query, question_options, interactive)
    async with Antiphon() as antiphon:
        id = await antiphon.submit(text, session_id=question_options.session_id, grant=grant, **options)
    if json:
        print_json({"session_id": id})
    else:
        write(f"{id}\n")


async def _ask(
    query: str,
    question_options: query_options.QuestionOptions,
    new_client: Callable[[], Antiphon],
    *,
    is_interactive: bool,
    is_json: bool,
) -> int:
    if is_interactive and query == "-":
        raise UsageError(
            "--interactive: the question is read from standard input, so your answers cannot be read "
            "from there.",
            hint="Pass the question as an argument.",
        )
    text, options, grant = _checked(query, question_options, is_interactive)
    _refuse_to_forget(options)
    async with new_client() as antiphon:
        await introduce(antiphon, bool(grant))
        # Chosen before the submission, so that Ctrl-C can cancel the session at any time.
        session_id = question_options.session_id or str(new_id())
        dialogue = Dialogue(antiphon) if is_interactive else None
        try:
            await antiphon.submit(text, session_id=session_id, grant=grant, **options)
            async with aclosing(antiphon.stream(session_id)) as stream:
                why = await show_progress(stream, command_of(antiphon), dialogue)
            return show_answer(await antiphon.result(session_id), is_json, why)
        except asyncio.CancelledError:
            if dialogue is not None:
                dialogue.stop()
            response = await _cancel(antiphon, session_id)
            if response is not None:
                show_answer(response, is_json)
            return EXIT_INTERRUPTED


async def _cancel(antiphon: Antiphon, session_id: str) -> Response | None:
    """End the session after Ctrl-C; return its answer if it comes soon."""
    notice = (
        f"Cancelling session {session_id}; it answers with the results so far. Press Ctrl-C again to "
        "exit at once."
    )
    response = await cancelled(antiphon, session_id, "the user pressed Ctrl-C", notice)
    task = asyncio.current_task()
    is_pressed_again = task is not None and task.cancelling() > 0
    if response is None and not antiphon.storage and not is_pressed_again:
        stderr().print(await _why_no_answer(antiphon, session_id), style="yellow")
    return response


async def _why_no_answer(antiphon: Antiphon, session_id: str) -> str:
    """Return why a session that was cancelled has no answer yet, and what to do."""
    with suppress(AntiphonError, RedisError, OSError):
        bus = antiphon.open_bus()
        is_early_cancelled = await bus.batcher.submit("EXISTS", bus.keys.early_cancellation(session_id))
        if is_early_cancelled and await bus.first_event(session_id) is None:
            return queued_but_cancelled(session_id)
    return (
        f"It has not answered yet. `antiphon sessions cancel {session_id}` retries; `antiphon "
        f"sessions watch {session_id}` waits for the answer."
    )


def _refuse_to_forget(options: Options) -> None:
    """Raise UsageError for a conversation without a running pipeline, as a pipeline for one question stores none."""
    if options.get("conversation_id") is not None and load(PipelineSettings).redis_url is None:
        raise UsageError(
            "--conversation: a private pipeline keeps no earlier sessions, so there is no "
            "conversation to continue.",
            hint="Set ANTIPHON_REDIS_URL to use a running pipeline.",
        )


def _checked(
    query: str, question_options: query_options.QuestionOptions, is_interactive: bool
) -> tuple[str, Options, str]:
    """Return the text, the options and the grant of a question, checked before any start or connection."""
    options = Options(
        max_rounds=question_options.max_rounds,
        max_tool_rounds=question_options.max_tool_rounds,
        max_tool_calls=question_options.max_tool_calls,
        max_tokens=question_options.max_tokens,
        max_cost_usd=question_options.max_cost,
        deadline_s=question_options.deadline,
        citations=question_options.citations,
        conversation_id=question_options.conversation,
        interactive=is_interactive or None,
    )
    grant = read_grant(question_options.grant)
    read_schema(options, question_options.output_schema)
    read_step_file(options, question_options.steps)
    text = read_query(query)
    bytes_max = load(BusSettings).max_event_bytes
    submission(text, options, question_options.session_id, new_id(), utc_now(), bytes_max, grant=grant)
    return text, options, grant
