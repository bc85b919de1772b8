"""`antiphon sessions`: list, show, watch, cancel, approve, deny, answer."""

from contextlib import aclosing
from datetime import datetime
from typing import Annotated

import typer
from antiphon_shared.bus.conversations import SharedTurns
from antiphon_shared.events import AnyEvent, Question, ResponseReady
from antiphon_shared.events.base import short_type
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.stream_ids import time_of
from antiphon_shared.tools.calls import ToolCall
from antiphon_shared.values import DEFAULT_TENANT

from antiphon.answering import questions_waiting
from antiphon.approval import calls_waiting
from antiphon.cli import event_lines
from antiphon.cli.live import print_events, print_uncertainty, show_answer, show_progress
from antiphon.cli.options import Reason
from antiphon.cli.output import EXIT_DONE, Json, command, print_json, print_table, run, stderr, stdout
from antiphon.cli.pipelines import queued_but_cancelled
from antiphon.cli.printer import one_line
from antiphon.cli.unconfirmed import print_unconfirmed
from antiphon.client import Antiphon
from antiphon.confirmation import CallIds
from antiphon.observe import SessionSummary, connected, recent_sessions, session_log
from antiphon.queued import waiting_summary
from antiphon.submission import checked_session_id

_STATUS_LENGTH = 80

app = typer.Typer(
    no_args_is_help=True,
    help="List, watch and cancel sessions, approve their calls, and answer their questions.",
)
SessionIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the session.")]
Calls = Annotated[
    list[str] | None,
    typer.Option(
        "--call", metavar="CALL_ID", help="The id of a call; repeatable. Default: all waiting calls."
    ),
]
By = Annotated[str, typer.Option(metavar="NAME", help="The name of the person who decides, for the record.")]
ByUser = Annotated[
    str, typer.Option(metavar="NAME", help="The name of the person who answers, for the record.")
]
ReasonToDeny = Annotated[str, typer.Option(metavar="TEXT", help="The reason, which the model receives.")]


@app.command("list")
def list_sessions(
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="The limit of sessions shown, the newest first.")
    ] = 20,
    conversation: Annotated[
        str | None,
        typer.Option(metavar="ID", help="List the earlier answers of this conversation, the oldest first."),
    ] = None,
    tenant: Annotated[
        str, typer.Option(metavar="NAME", help="The tenant of the conversation.")
    ] = DEFAULT_TENANT,
    json: Json = False,
) -> None:
    """List the newest sessions with their status: queued, open, waiting for a person, or answered.

    With --conversation, list the finished sessions of one conversation, with their answers.
    """
    run(_list(limit, json) if conversation is None else _list_turns(tenant, conversation, limit, json))


@app.command()
@command
async def show(session_id: SessionIdArgument, json: Json = False) -> None:
    """Show a session's events in order, and the uncertainty of its answer; with --json each whole event on a line.

    \b
    antiphon sessions show ID --json | jq .type
    """
    async with connected() as bus:
        log = await session_log(bus, checked_session_id(session_id))
        waiting: tuple[ToolCall, ...] = ()
        questions: tuple[Question, ...] = ()
        unreadable = ""
        try:
            waiting = await calls_waiting(bus, session_id)
            questions = await questions_waiting(bus, session_id)
        except UnreadableEvent as error:
            unreadable = str(error)
        queued = await waiting_summary(bus, session_id)
    if json:
        for _, event in log:
            print_json(event)
        return
    began = log[0][1].time
    rows = [
        (
            f"+{(_moment(entry, event) - began).total_seconds():.3f}",
            event.source,
            short_type(event.type),
            event_lines.detail(event.data),
        )
        for entry, event in log
    ]
    print_table(("s", "from", "event", ""), rows, "")
    if isinstance(response := log[-1][1].data, ResponseReady):
        print_uncertainty(stdout(), response)
    if unreadable:
        stderr().print(f"\n{unreadable}", style="yellow")
    if queued:
        stderr().print(f"\nQueued: waits for capacity, {one_line(queued)}.", style="yellow")
    if waiting:
        names = ", ".join(f"{one_line(call.name)} [{one_line(call.id)}]" for call in waiting)
        for line in (f"\nWaits for approval of {names}", *event_lines.how_to_decide(session_id)):
            stderr().print(line, style="yellow")
    if questions:
        lines = [line for question in questions for line in event_lines.question_line(question)]
        for line in ("\nWaits for an answer", *lines, *event_lines.how_to_answer(session_id)):
            stderr().print(line, style="yellow")


@app.command()
@command
async def watch(session_id: SessionIdArgument, json: Json = False) -> int | None:
    """Show the progress of a session until its answer, like `antiphon ask`; with --json print one event per line."""
    async with Antiphon() as antiphon:
        async with aclosing(antiphon.stream(session_id)) as stream:
            if json:
                await print_events(stream)
                return None
            why = await show_progress(stream)
        return show_answer(await antiphon.result(session_id), json, why)


@app.command()
@command
async def cancel(
    session_id: SessionIdArgument,
    reason: Annotated[str, typer.Option(help="The reason, for the record.")] = "",
    json: Json = False,
) -> None:
    """Cancel a session; it answers with the results so far.

    A running model call and async tools are cancelled within a second. A plain function cannot be cancelled: it runs
    to its end, and its result is ignored. The answer reports the outcome of an unfinished write as unknown; the write
    is not repeated. A query that is still in the queue never runs: it answers as cancelled when a coordinator reads it.
    """
    async with Antiphon() as antiphon:
        is_accepted = await antiphon.cancel(session_id, reason)
        is_queued = is_accepted and await antiphon.open_bus().first_event(session_id) is None
    if is_queued:
        stderr().print(queued_but_cancelled(session_id), style="yellow")
    if json:
        print_json({"session_id": session_id, "cancelling": is_accepted})
    elif is_accepted:
        stdout().print(f"Cancelling {session_id}.")
        if not is_queued:
            how = f"antiphon sessions watch {session_id}"
            stderr().print(f"Its answer contains the results so far: {how}", style="dim")
    else:
        stderr().print(f"Session {session_id} had already ended.")


@app.command()
def approve(
    session_id: SessionIdArgument, call: Calls = None, by: By = "", reason: Reason = "", json: Json = False
) -> None:
    """Approve waiting calls. The session continues when every waiting call is approved or denied.

    Exit codes: 0 done; 1 the session has no pending approval, or another decision came first; 2 unknown session, or
    no such call is waiting; 4 sent, but no coordinator has confirmed it within 5 s: it may still count.

    \b
    antiphon sessions show ID                  # the waiting calls, and the reasons
    antiphon sessions approve ID --by ann
    antiphon sessions approve ID --call toolu_1 --call toolu_2
    """
    run(_decide(session_id, True, call, by, reason, json))


@app.command()
def deny(
    session_id: SessionIdArgument,
    call: Calls = None,
    by: By = "",
    reason: ReasonToDeny = "",
    json: Json = False,
) -> None:
    """Deny waiting calls. The model learns who denied them and why, and continues without them.

    Exit codes: 0 done; 1 the session has no pending approval, or another decision came first; 2 unknown session, or
    no such call is waiting; 4 sent, but no coordinator has confirmed it within 5 s: it may still count.

    \b
    antiphon sessions deny ID --by ann --reason "Not before the contract is signed."
    """
    run(_decide(session_id, False, call, by, reason, json))


@app.command()
@command
async def answer(
    session_id: SessionIdArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The user's answer.")],
    call: Calls = None,
    by: ByUser = "",
    json: Json = False,
) -> int:
    """Answer the model's question to the user. The session continues when all its questions are answered.

    Exit codes: 0 done; 1 the session has no open question, or another answer came first; 2 unknown session, or no
    such question is open; 4 sent, but no coordinator has confirmed it within 5 s: it may still count.

    \b
    antiphon sessions show ID                  # the open questions
    antiphon sessions answer ID "The one in Lund." --by ann
    """
    async with Antiphon() as antiphon:
        call_ids = await antiphon.answer(session_id, text, calls=call or (), by=by)
    if json:
        print_json({"session_id": session_id, "calls": call_ids, "is_confirmed": call_ids.is_confirmed})
    return _print_sent(session_id, call_ids, "Sent the answer to", "Answered", is_json=json)


def _moment(entry: str, event: AnyEvent) -> datetime:
    """Return when an event happened, from its log entry if it has one."""
    logged = None if entry == "-" else time_of(entry)
    return max(event.time, logged or event.time)


async def _list(limit: int, is_json: bool) -> None:
    async with connected() as bus:
        sessions = await recent_sessions(bus, limit)
    if is_json:
        print_json(sessions)
        return
    rows = [
        (session.session_id, f"{session.opened:%Y-%m-%d %H:%M:%S}", _status_of(session), session.round, query)
        for session in sessions
        for query in [one_line(session.query, 60)]
    ]
    print_table(("session", "opened (UTC)", "status", "round", "query"), rows, "No sessions.")


async def _list_turns(tenant: str, conversation: str, limit: int, is_json: bool) -> None:
    checked = checked_session_id(conversation, "--conversation")
    async with connected() as bus:
        turns = (await SharedTurns(bus).turns(tenant, checked)).turns[-limit:]
    if is_json:
        print_json(turns)
        return
    rows = [
        (turn.session_id, f"{turn.at:%Y-%m-%d %H:%M:%S}", turn.status, *texts)
        for turn in turns
        for texts in [(one_line(turn.question, 60), one_line(turn.answer, 60))]
    ]
    headings = ("session", "asked (UTC)", "status", "question", "answer")
    print_table(headings, rows, f"No stored sessions of conversation {checked} of tenant {one_line(tenant)}.")


async def _decide(
    session_id: str, is_approved: bool, calls: list[str] | None, by: str, reason: str, is_json: bool
) -> int:
    async with Antiphon() as antiphon:
        say = antiphon.approve if is_approved else antiphon.deny
        decided = await say(session_id, calls or (), by, reason)
    if is_json:
        fields = {"session_id": session_id, "is_approved": is_approved, "calls": decided}
        print_json({**fields, "is_confirmed": decided.is_confirmed})
    words = ("Sent the approval of", "Approved") if is_approved else ("Sent the denial of", "Denied")
    return _print_sent(session_id, decided, *words, is_json=is_json)


def _print_sent(session_id: str, calls: CallIds, sent: str, done: str, *, is_json: bool) -> int:
    """Print what became of a person's reply to calls; return the exit code."""
    calls_of_session = f"{', '.join(calls)} of {session_id}"
    if not calls.is_confirmed:
        return print_unconfirmed(f"{sent} {calls_of_session}", is_json=is_json)
    if not is_json:
        stdout().print(f"{done} {calls_of_session}.")
    return EXIT_DONE


def _status_of(session: SessionSummary) -> str:
    """Return `complete`, `open`, `waiting for approval of book (toolu_1)`, or `waiting for an answer: Which room?`."""
    waits = []
    if session.waits_for:
        waits.append(f"for approval of {', '.join(session.waits_for)}")
    if session.asks:
        waits.append(f"for an answer: {' '.join(session.asks)}")
    return one_line(f"waiting {'; '.join(waits)}", _STATUS_LENGTH) if waits else session.status
