"""`antiphon ask --interactive`: the person at the terminal answers the model, and approves calls.

Questions go to stderr, answers come from standard input, and the session is followed meanwhile: when it
continues without an answer, the questions end.
"""

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial

from antiphon_shared.events import (
    AnyEvent,
    ApprovalRequested,
    AssemblyRequested,
    CallToApprove,
    Question,
    QuestionAsked,
    ResponseReady,
    ToolsRequested,
)
from antiphon_shared.process.errors import AntiphonError
from redis.exceptions import RedisError

from antiphon.cli import event_lines
from antiphon.cli.output import stderr
from antiphon.cli.unconfirmed import show_confirmation
from antiphon.client import Antiphon
from antiphon.errors import InvalidQuery, TooLate
from antiphon.submission import checked_answer

_PIECE_BYTES = 65_536
_LINE_BYTES_MAX = 2 * _PIECE_BYTES
"""More than the longest answer: a text cut here is refused as too long."""
_YES, _NO = ("y", "yes"), ("n", "no")


class Dialogue:
    """A person, and the session that waits for them."""

    def __init__(self, antiphon: Antiphon) -> None:
        self._antiphon = antiphon
        self._lines = Lines()
        self._to_ask: deque[Callable[[], Awaitable[bool]]] = deque()
        self._asking: asyncio.Task[None] | None = None
        self._is_prompting = False

    @property
    def is_asking(self) -> bool:
        return self._asking is not None and not self._asking.done()

    def hear(self, event: AnyEvent) -> None:
        """Start to ask the session's questions, and stop when it has continued."""
        match event.data:
            case ApprovalRequested(calls=calls):
                self._begin(partial(self._decide, event.subject, call) for call in calls)
            case QuestionAsked(questions=questions):
                self._begin(partial(self._answer, event.subject, question) for question in questions)
            case ToolsRequested() | AssemblyRequested() | ResponseReady():
                self.stop()

    def stop(self) -> None:
        """Stop asking; a reply that was typed is still sent, and its failure shown."""
        self._to_ask.clear()
        if self._asking is not None and self._is_prompting:
            self._asking.cancel()
            stderr().print("")
            self._asking, self._is_prompting = None, False

    def _begin(self, asking: Iterable[Callable[[], Awaitable[bool]]]) -> None:
        self._to_ask.extend(asking)
        if not self.is_asking:
            self._lines.forget()
            self._asking = asyncio.create_task(self._ask())

    async def _ask(self) -> None:
        """Ask one question after the other, until standard input ends."""
        while self._to_ask:
            try:
                is_there = await self._to_ask.popleft()()
            except (AntiphonError, RedisError) as error:
                failure = str(error) if isinstance(error, TooLate) else f"not sent: {error}"
                stderr().print(f"  {failure}", style="yellow")
                continue
            if not is_there:
                stderr().print(
                    "  standard input has ended; the session continues without an answer after the time limit"
                )
                self._to_ask.clear()

    async def _answer(self, session_id: str, question: Question) -> bool:
        """Ask a question; return False at the end of standard input."""
        for line in event_lines.question_line(question):
            stderr().print(line)
        choices = {str(n): choice for n, choice in enumerate(question.choices, 1)}
        while (typed := await self._typed("a number, or your own text> " if choices else "> ")) is not None:
            try:
                text = checked_answer(choices.get(typed.strip(), typed))
            except InvalidQuery as error:
                stderr().print(f"  {error}", style="yellow")
                continue
            sent = await self._antiphon.answer(session_id, text, calls=[question.id])
            show_confirmation(sent.is_confirmed)
            return True
        return False

    async def _decide(self, session_id: str, call: CallToApprove) -> bool:
        stderr().print(f"  waits for approval: {event_lines.to_approve(call)}")
        while (typed := await self._typed("approve? y or n> ")) is not None:
            word = typed.strip().lower()
            if word in _YES or word in _NO:
                decide = self._antiphon.approve if word in _YES else self._antiphon.deny
                show_confirmation((await decide(session_id, [call.id])).is_confirmed)
                return True
        return False

    async def _typed(self, prompt: str) -> str | None:
        stderr().print(f"  {prompt}", end="")
        self._is_prompting = True
        typed = await self._lines.next()
        self._is_prompting = False
        if typed is None or not is_terminal():
            stderr().print("")  # no Enter has moved to the next line
        return typed


class Lines:
    """The lines of standard input. A read waits in its own thread, which does not delay the program's end."""

    def __init__(self) -> None:
        self._rest, self._is_over = b"", False
        self._piece: asyncio.Future[bytes] | None = None

    async def next(self) -> str | None:
        """Return the next line; None at the end. A cancelled call loses no line."""
        while b"\n" not in self._rest and not self._is_over:
            if self._piece is None:
                self._piece = _read_piece()
            piece = await asyncio.shield(self._piece)
            self._piece, self._is_over = None, not piece
            self._rest = self._rest[:_LINE_BYTES_MAX] + piece
        if not self._rest:
            return None
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    def forget(self) -> None:
        """Drop text that a person typed on a terminal before the question, because it does not answer the question."""
        if is_terminal():
            self._rest = b""
            if self._piece is not None and self._piece.done():
                self._piece = None


def is_terminal() -> bool:
    """Return whether a person may be typing; a program started without standard input has no `sys.stdin`."""
    return sys.stdin is not None and sys.stdin.isatty()


def _read_piece() -> asyncio.Future[bytes]:
    """Return a future of the next bytes of standard input; empty bytes at its end."""
    loop = asyncio.get_running_loop()
    piece: asyncio.Future[bytes] = loop.create_future()

    def settle(read: bytes) -> None:
        if not piece.done():
            piece.set_result(read)

    def wait() -> None:
        read = b""
        with suppress(OSError, ValueError):  # standard input is missing, or has no descriptor
            # Not through sys.stdin: a thread that waits there holds a lock that the interpreter needs to end.
            read = os.read(sys.stdin.fileno() if sys.stdin else -1, _PIECE_BYTES)
        with suppress(RuntimeError):  # the loop is closed, and the result is not needed any more
            loop.call_soon_threadsafe(settle, read)

    threading.Thread(target=wait, name="standard input", daemon=True).start()
    return piece
