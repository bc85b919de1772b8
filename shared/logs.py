"""Logs: one JSON object per line on stderr, with the session and what else is bound to the task."""

import json
import logging
import sys

import orjson
import structlog


def configure(level: str, component: str) -> None:
    """Set up structlog for this process. Everything logged carries the component's name."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=as_line),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(component=component)


def silence(level: str = "error") -> None:
    """Plain lines on stderr, and only what is as severe as `level`: for the command line."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer(colors=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def as_line(line: object, **_: object) -> str:
    """One line of JSON, whatever is in it."""
    try:
        return orjson.dumps(line, default=repr).decode()
    except TypeError:  # lone surrogates, integers beyond 64 bits: what a tool raises may hold anything
        return json.dumps(line, default=repr)
