"""`antiphon ask` and `antiphon submit`."""

import asyncio
from contextlib import AbstractAsyncContextManager, aclosing
from pathlib import Path

from antiphon_shared.events.session import Response
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import new_id
from antiphon_shared.process.settings import BusSettings, PipelineSettings, load

from antiphon.cli import query_options as given
from antiphon.cli.dialogue import Dialogue
from antiphon.cli.given import read_grant, read_query, read_schema, read_step_file
from antiphon.cli.live import show_answer, show_progress
from antiphon.cli.output import EXIT_INTERRUPTED, Json, UsageError, print_json, run, stderr, write
from antiphon.cli.pipelines import (
    cancelled,
    client_of,
    command_of,
    tell_of_missing_scopes,
    warn_of_absent_components,
)
from antiphon.client import Antiphon
from antiphon.submission import Options, submission


def ask(
    query: given.Query,
    *,
    json: Json = False,
    max_rounds: given.MaxRounds = None,
    max_tool_rounds: given.MaxToolRounds = None,
    max_tool_calls: given.MaxToolCalls = None,
    max_tokens: given.MaxTokens = None,
    max_cost: given.MaxCost = None,
    deadline: given.Deadline = None,
    citations: given.CitationsOption = None,
    tools: given.ToolModules = None,
    model: given.Model = None,
    scope: given.Scopes = None,
    grant: given.GrantOption = None,
    conversation: given.Conversation = None,
    interactive: given.Interactive = False,
    output_schema: given.OutputSchema = None,
    steps: given.StepFile = None,
    session_id: given.SessionIdOption = None,
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
    limits = given.limits_of(max_rounds, max_tool_rounds, max_tool_calls, max_tokens, max_cost, deadline)
    options = given.options_of(limits, citations, conversation, interactive)
    client = client_of(tools, model, scope)
    run(_ask(client, query, options, output_schema, steps, grant, own_id=session_id, is_json=json))


def submit(
    query: given.Query,
    *,
    json: Json = False,
    session_id: given.SessionIdOption = None,
    max_rounds: given.MaxRounds = None,
    max_tool_rounds: given.MaxToolRounds = None,
    max_tool_calls: given.MaxToolCalls = None,
    max_tokens: given.MaxTokens = None,
    max_cost: given.MaxCost = None,
    deadline: given.Deadline = None,
    citations: given.CitationsOption = None,
    grant: given.GrantOption = None,
    conversation: given.Conversation = None,
    interactive: given.InteractiveSession = False,
    output_schema: given.OutputSchema = None,
    steps: given.StepFile = None,
) -> None:
    """Submit a question to the running pipeline, and print the session's id without waiting for the answer.

    \b
    id=$(antiphon submit "Which course ...?")
    antiphon sessions watch $id
    """
    limits = given.limits_of(max_rounds, max_tool_rounds, max_tool_calls, max_tokens, max_cost, deadline)
    options = given.options_of(limits, citations, conversation, interactive)
    run(_submit(query, options, output_schema, steps, grant, session_id, is_json=json))


async def _ask(
    client: AbstractAsyncContextManager[Antiphon],
    query: str,
    options: Options,
    output_schema: Path | None,
    steps: Path | None,
    grant: str | None,
    *,
    own_id: str | None,
    is_json: bool,
) -> int:
    is_interactive = bool(options.get("interactive"))
    if is_interactive and query == "-":
        raise UsageError(
            "--interactive: the question is read from standard input, so your answers cannot be read "
            "from there.",
            hint="Pass the question as an argument.",
        )
    grant = read_grant(grant)
    read_schema(options, output_schema)
    read_step_file(options, steps)
    query = _checked(query, options, grant, own_id)
    _refuse_to_forget(options)
    async with client as antiphon:
        if antiphon.storage:
            stderr().print(f"Running on {antiphon.storage}.", style="dim")
            tell_of_missing_scopes(antiphon.scopes_missing, bool(grant))
        else:
            await warn_of_absent_components()
        session_id = own_id or str(new_id())  # known before the submission, in case Ctrl-C comes in between
        dialogue = Dialogue(antiphon) if is_interactive else None
        try:
            await antiphon.submit(query, session_id=session_id, grant=grant, **options)
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


async def _submit(
    query: str,
    options: Options,
    output_schema: Path | None,
    steps: Path | None,
    grant: str | None,
    session_id: str | None,
    *,
    is_json: bool,
) -> None:
    grant = read_grant(grant)
    read_schema(options, output_schema)
    read_step_file(options, steps)
    query = _checked(query, options, grant, session_id)
    async with Antiphon() as antiphon:
        id = await antiphon.submit(query, session_id=session_id, grant=grant, **options)
    if is_json:
        print_json({"session_id": id})
    else:
        write(f"{id}\n")


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
        stderr().print(
            f"It has not answered yet. `antiphon sessions cancel {session_id}` retries; `antiphon "
            f"sessions watch {session_id}` waits for the answer.",
            style="yellow",
        )
    return response


def _refuse_to_forget(options: Options) -> None:
    """Raise UsageError for a conversation without a running pipeline, as a pipeline for one question stores none."""
    if options.get("conversation_id") is not None and load(PipelineSettings).redis_url is None:
        raise UsageError(
            "--conversation: a private pipeline keeps no earlier sessions, so there is no "
            "conversation to continue.",
            hint="Set ANTIPHON_REDIS_URL to use a running pipeline.",
        )


def _checked(query: str, options: Options, grant: str, session_id: str | None = None) -> str:
    """Return the query's text, checked with all its options before any start or connection."""
    text = read_query(query)
    bytes_max = load(BusSettings).max_event_bytes
    submission(
        text,
        options,
        session_id,
        traceparent=None,
        event_id=new_id(),
        now=utc_now(),
        bytes_max=bytes_max,
        grant=grant,
    )
    return text
