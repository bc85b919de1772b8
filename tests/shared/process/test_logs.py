"""Log lines: any logged value becomes one line without a secret."""

import logging
import sys
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest
import structlog
from antiphon_shared.process import logs
from antiphon_shared.redaction.redactor import Redactor

from tests.rows import each_row

SECRET = "open-sesame"


@pytest.fixture
def _logging_as_it_was() -> Iterator[None]:
    """Restore the logging of the process for the next test."""
    handlers, level, hook = logging.root.handlers[:], logging.root.level, sys.excepthook
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    sys.excepthook = hook
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return the log; check that each line is an object without the secret."""
    output = capsys.readouterr()
    assert output.out == ""
    assert SECRET not in output.err
    return [orjson.loads(line) for line in output.err.splitlines()]


@pytest.mark.parametrize(
    "value", ["\ud800", 2**70, float("nan"), object(), b"\xff", {1, 2}, ValueError("\udcff")]
)
def test_any_logged_value_becomes_one_line_of_json(value: Any) -> None:
    line = logs.as_line({"event": "tool failed", "value": value})
    assert "\n" not in line
    assert orjson.loads(line.encode("utf-8", "replace").replace(b"\\ud800", b"?"))["event"] == "tool failed"


class Shown:
    """Something whose text holds a secret."""

    def __repr__(self) -> str:
        return f"<Client of redis://:{SECRET}@host>"


@each_row(
    "value",
    [
        SECRET,
        f"\ud800 {SECRET}",
        {"deep": [{"deeper": SECRET}], SECRET: 1},
        [2**70, SECRET],
        Shown(),
        ValueError(f'"{SECRET}"\n'),
        "Authorization: Bearer abc",
        'quotes " and \\ and sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz',
    ],
)
def test_a_line_with_a_secret_is_still_one_line_of_json(value: Any) -> None:
    line = logs.redacted_line({"event": "tool failed", "value": value}, Redactor([SECRET]))
    assert "\n" not in line
    assert "[redacted]" in line
    assert not any(secret in line for secret in (SECRET, "Bearer abc", "sk-ant"))
    assert orjson.loads(line.replace("\\ud800", "?"))["event"] == "tool failed"


def test_a_line_without_secrets_is_unchanged() -> None:
    event = {"event": "ready", "url": "https://example.com", "took_s": 1.5, "note": 'basic "things"'}
    assert logs.redacted_line(event, Redactor([SECRET])) == logs.as_line(event)


@pytest.mark.usefixtures("_logging_as_it_was")
def test_no_secret_gets_into_the_log_of_a_process(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "coordinator", [SECRET])
    log = structlog.get_logger()
    log.info("connecting", url=f"redis://:{SECRET}@host")
    try:
        raise ValueError(f"cannot reach redis://:{SECRET}@host")
    except ValueError:
        log.exception("failed", given={"password": SECRET})
    connecting, failed = lines(capsys)
    assert connecting["url"] == "redis://:[redacted]@host"
    assert connecting["component"] == "coordinator"
    assert failed["given"] == {"password": "[redacted]"}
    assert "ValueError: cannot reach" in failed["exception"]


@pytest.mark.usefixtures("_logging_as_it_was")
def test_text_for_people_holds_no_secret_and_nothing_that_a_terminal_obeys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("info", "coordinator", [SECRET], "text")
    structlog.get_logger().info("tool failed", said=f"\x1b]52;c;QQ==\x07\x1b[2J{SECRET}")
    line = capsys.readouterr().err
    assert "tool failed" in line
    assert "component=coordinator" in line
    assert SECRET not in line
    assert not {"\x1b", "\x07"} & set(line)


@pytest.mark.usefixtures("_logging_as_it_was")
def test_a_warning_of_a_library_is_logged_as_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("warning", "coordinator", [SECRET])
    log = logging.getLogger("some.library")
    log.info("not severe")
    log.warning("retrying %s", f"http://user:{SECRET}@host")
    log.warning("%d of them", "many")
    log.log(35, "an odd level")
    try:
        raise OSError(SECRET)
    except OSError:
        log.exception("gone")
    retrying, unfitting, odd, unawaited = lines(capsys)
    assert (retrying["logger"], retrying["level"]) == ("some.library", "warning")
    assert retrying["event"].startswith("retrying http://")
    assert (unfitting["event"], odd["event"]) == ("%d of them", "an odd level")
    assert "OSError: [redacted]" in unawaited["exception"]


@pytest.mark.usefixtures("_logging_as_it_was")
def test_an_uncaught_exception_is_logged_as_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "coordinator", [SECRET])
    error = RuntimeError(f"no place for {SECRET}")
    sys.excepthook(RuntimeError, error, None)
    (line,) = lines(capsys)
    assert line["level"] == "critical"
    assert "RuntimeError: no place for [redacted]" in line["exception"]


@pytest.mark.usefixtures("_logging_as_it_was")
def test_the_command_line_shows_no_secret_either(capsys: pytest.CaptureFixture[str]) -> None:
    logs.silence("error", [SECRET])
    structlog.get_logger().error(
        "failed", url=f"redis://:{SECRET}@host", key="sk-ant-api03-AbCdEfGhIjKlMnOpQrSt"
    )
    output = capsys.readouterr().err
    assert "failed" in output
    assert SECRET not in output
    assert "sk-ant" not in output


def test_a_log_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Logs quote a tool's text too, and may be read on a terminal."""
    hostile = "\x1b]52;c;cm0=\x07 \x9b2J \x7f \u202e"
    logs.configure("info", "coordinator")
    structlog.get_logger().error("tool failed", error=hostile)
    line = capsys.readouterr().err
    assert orjson.loads(line)["error"] == hostile
    assert line.isascii()
    assert line.strip().isprintable()
    logs.silence("error")
    structlog.get_logger().error("tool failed", error=hostile)
    assert capsys.readouterr().err.replace("\n", "").isprintable()


TOKEN = "glpat-aB3dE6gH9jK2mN5pQ8"
"""An unknown value in the form of an issuer's token."""


@pytest.mark.usefixtures("_logging_as_it_was")
@pytest.mark.parametrize("is_terminal", [False, True], ids=["json", "terminal"])
@pytest.mark.parametrize(
    "log",
    [
        lambda: structlog.get_logger().warning("refused", why=f"{TOKEN} has expired"),
        lambda: structlog.get_logger().warning("refused", deep={"headers": [f"PRIVATE-TOKEN: {TOKEN}"]}),
        lambda: structlog.get_logger().warning("refused", private_token="open-sesame"),
        lambda: logging.getLogger("a library").warning("refused: %s", TOKEN),
        lambda: structlog.get_logger().error("refused", exc_info=ValueError(f"no such token: {TOKEN}")),
    ],
    ids=["field", "nested", "secret key", "library", "exception"],
)
def test_an_unknown_token_is_in_no_log(
    log: Callable[[], None],
    is_terminal: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    logs.configure("info", "coordinator")
    log()
    output = capsys.readouterr().err
    assert output.startswith("{") is not is_terminal
    assert "refused" in output or "no such token" in output
    assert "[redacted]" in output
    assert TOKEN not in output
    assert SECRET not in output
