"""Logs on stderr, with the session and other context of the task: JSON, or text on a terminal.

Log lines are redacted, as they may quote any text, such as that of an exception.
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
    """Set up logging for this process. Every line has the component's name, and no `secrets`.

    `auto` is text on a terminal, and JSON elsewhere. Warnings of libraries through `logging`, and an exception that
    ends the process, are logged in the same form.
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
    sys.excepthook = _log_uncaught


def silence(level: str = "error", secrets: Iterable[str] = ()) -> None:
    """Log plain lines of at least `level` on stderr, for the command line.

    From `error` on, `tool_call` lines are left out, as such callers show the results of calls themselves.
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
    """Return the processors that render a line for people: level, event, fields.

    They remove secrets and control characters.
    """

    def redact(_: object, __: str, line: str | bytes) -> str:
        return visible(redactor.text(line if isinstance(line, str) else line.decode("utf-8", "replace")))

    return [structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0), redact]


def redacted_line(event: object, redactor: Redactor) -> str:
    """Return one line of JSON without secrets, for any value."""
    line = as_line(event)
    return as_line(redactor.json(json.loads(line))) if redactor.suspects(line) else line


def as_line(line: object, **_: object) -> str:
    """Return one line of JSON, for any value."""
    try:
        return harmless_json(orjson.dumps(line, default=repr).decode())
    except TypeError:  # lone surrogates or integers beyond 64 bits, for instance in a tool's exception
        return json.dumps(line, default=repr)


class _Forwarding(logging.Handler):
    """A handler that passes libraries' log records to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except (TypeError, ValueError, LookupError):
            message = str(record.msg)  # the arguments do not fit the message
        level = min(record.levelno // 10 * 10, logging.CRITICAL)
        structlog.get_logger().log(level, message, logger=record.name, exc_info=record.exc_info or None)


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Log an uncaught exception as one redacted line, in place of Python's report."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    structlog.get_logger().critical("process_crashed", exc_info=(kind, error, trace))
