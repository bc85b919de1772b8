"""`antiphon ask --interactive`: the person at the terminal answers the model, and approves calls, as it asks.

What is asked goes to stderr, the answers come from standard input, and the session is followed all the while: when
it goes on without them, nobody is asked any more.
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

from antiphon.cli import told
from antiphon.cli.output import stderr
from antiphon.client import Antiphon
from antiphon.errors import InvalidQuery
from antiphon.submission import checked_answer

_PIECE_BYTES = 65_536
_LINE_BYTES_MAX = 2 * _PIECE_BYTES
"""More than the longest answer: what is cut here is refused as too long."""
_YES, _NO = ("y", "yes"), ("n", "no")


class Dialogue:
    """One person, and the session they wait for."""

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
        """Begin to ask what the session asks, and stop when it has gone on."""
        match event.data:
            case ApprovalRequested(calls=calls):
                self._begin(partial(self._decide, event.subject, call) for call in calls)
            case QuestionAsked(questions=questions):
                self._begin(partial(self._answer, event.subject, question) for question in questions)
            case ToolsRequested() | AssemblyRequested() | ResponseReady():
                self.stop()

    def stop(self) -> None:
        """Ask nothing more."""
        self._to_ask.clear()
        if self._asking is not None and self._asking.cancel() and self._is_prompting:
            stderr().print("")
        self._asking, self._is_prompting = None, False

    def _begin(self, asking: Iterable[Callable[[], Awaitable[bool]]]) -> None:
        self._to_ask.extend(asking)
        if not self.is_asking:
            self._lines.forget()
            self._asking = asyncio.create_task(self._ask())

    async def _ask(self) -> None:
        """One after the other, as long as there is anybody."""
        while self._to_ask:
            try:
                is_there = await self._to_ask.popleft()()
            except (AntiphonError, RedisError) as error:
                stderr().print(f"  not said: {error}", style="yellow")
                continue
            if not is_there:
                stderr().print("  standard input has ended; the session goes on without an answer in time")
                self._to_ask.clear()

    async def _answer(self, session_id: str, question: Question) -> bool:
        """False where nobody is there to answer."""
        for line in told.asked(question):
            stderr().print(line)
        choices = {str(n): choice for n, choice in enumerate(question.choices, 1)}
        while (said := await self._said("a number, or your own words> " if choices else "> ")) is not None:
            try:
                text = checked_answer(choices.get(said.strip(), said))
            except InvalidQuery as error:
                stderr().print(f"  {error}", style="yellow")
                continue
            await self._antiphon.answer(session_id, text, calls=[question.id])
            return True
        return False

    async def _decide(self, session_id: str, call: CallToApprove) -> bool:
        stderr().print(f"  waits for approval: {told.to_approve(call)}")
        while (said := await self._said("approve? y or n> ")) is not None:
            if said.strip().lower() in _YES:
                await self._antiphon.approve(session_id, [call.id])
                return True
            if said.strip().lower() in _NO:
                await self._antiphon.deny(session_id, [call.id])
                return True
        return False

    async def _said(self, prompt: str) -> str | None:
        stderr().print(f"  {prompt}", end="")
        self._is_prompting = True
        said = await self._lines.next()
        self._is_prompting = False
        if said is None or not _is_terminal():
            stderr().print("")  # nobody has pressed Enter
        return said


class Lines:
    """Lines of standard input. A read waits in a thread of its own, which holds nothing up when the program ends."""

    def __init__(self) -> None:
        self._rest, self._is_over = b"", False
        self._piece: asyncio.Future[bytes] | None = None

    async def next(self) -> str | None:
        """The next line; None when there is none. May be cancelled, and loses nothing."""
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
        """Of a terminal: what was typed when nobody had asked is no answer to what is asked now."""
        if _is_terminal():
            self._rest = b""
            if self._piece is not None and self._piece.done():
                self._piece = None


def _is_terminal() -> bool:
    """Whether a person may be typing; a program that was started without standard input has none at all."""
    return sys.stdin is not None and sys.stdin.isatty()


def _read_piece() -> asyncio.Future[bytes]:
    """Bytes of standard input, as soon as there are some; none at its end."""
    loop = asyncio.get_running_loop()
    piece: asyncio.Future[bytes] = loop.create_future()

    def settle(read: bytes) -> None:
        if not piece.done():
            piece.set_result(read)

    def wait() -> None:
        read = b""
        with suppress(OSError, ValueError):  # there is no standard input, or none with a descriptor
            # Not through sys.stdin: whoever waits there holds a lock that the interpreter needs to end.
            read = os.read(sys.stdin.fileno() if sys.stdin else -1, _PIECE_BYTES)
        with suppress(RuntimeError):  # the loop is closed; nobody waits any more
            loop.call_soon_threadsafe(settle, read)

    threading.Thread(target=wait, name="standard input", daemon=True).start()
    return piece
