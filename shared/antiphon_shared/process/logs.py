"""Logs on stderr, with the session and what else is bound to the task: JSON, or text for people on a terminal.

No line holds a secret: what is logged may quote anything, an exception's text above all.
"""

import json
import logging
import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Literal

import orjson
import structlog
from structlog.typing import EventDict

from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_keys import ALWAYS
from antiphon_shared.text.control import harmless_json, visible


def configure(
    level: str, component: str, secrets: Iterable[str] = (), form: Literal["auto", "json", "text"] = "auto"
) -> None:
    """Set up logging for this process. Everything logged carries the component's name, and none of `secrets`.

    `auto` is text for people on a terminal, and JSON elsewhere. What libraries warn of through `logging`, and what
    the process dies of, are lines like any other.
    """
    redactor = Redactor(secrets, keys=ALWAYS)
    is_text = form == "text" or (form == "auto" and sys.stderr.isatty())

    def serialize(event: object, **_: object) -> str:
        return redacted_line(event, redactor)

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if is_text else "iso", utc=not is_text),
            structlog.processors.format_exc_info,
            *(_as_text(redactor) if is_text else [structlog.processors.JSONRenderer(serializer=serialize)]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(component=component)
    logging.basicConfig(handlers=[_Forwarding(logging.WARNING)], level=logging.WARNING, force=True)
    sys.excepthook = _log_the_end


def silence(level: str = "error", secrets: Iterable[str] = ()) -> None:
    """Plain lines on stderr, and only what is as severe as `level`: for the command line.

    From `error` on without the lines of calls: whoever asks for so little shows what came of calls itself.
    """
    severity = logging.getLevelNamesMapping()[level.upper()]

    def without_calls(_: object, __: str, line: EventDict) -> EventDict:
        if severity >= logging.ERROR and line.get("event") == "tool_call":
            raise structlog.DropEvent
        return line

    structlog.configure(
        processors=[
            without_calls,
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            *_as_text(Redactor(secrets, keys=ALWAYS)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(severity),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _as_text(redactor: Redactor) -> list[Any]:
    """What makes a line for people: its level, the event, its fields; without secrets, and nothing a terminal obeys."""

    def redact(_: object, __: str, line: str | bytes) -> str:
        return visible(redactor.text(line if isinstance(line, str) else line.decode("utf-8", "replace")))

    return [structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0), redact]


def redacted_line(event: object, redactor: Redactor) -> str:
    """One line of JSON without secrets, whatever is in it."""
    line = as_line(event)
    return as_line(redactor.json(json.loads(line))) if redactor.suspects(line) else line


def as_line(line: object, **_: object) -> str:
    """One line of JSON, whatever is in it."""
    try:
        return harmless_json(orjson.dumps(line, default=repr).decode())
    except TypeError:  # lone surrogates, integers beyond 64 bits: what a tool raises may hold anything
        return json.dumps(line, default=repr)


class _Forwarding(logging.Handler):
    """Hands what libraries log to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except (TypeError, ValueError, LookupError):
            message = str(record.msg)  # arguments that do not fit: the words alone
        level = min(record.levelno // 10 * 10, logging.CRITICAL)
        structlog.get_logger().log(level, message, logger=record.name, exc_info=record.exc_info or None)


def _log_the_end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What nobody has caught, as a line: Python's own words would be many, and may hold a secret."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    structlog.get_logger().critical("the process dies of an error", exc_info=(kind, error, trace))
