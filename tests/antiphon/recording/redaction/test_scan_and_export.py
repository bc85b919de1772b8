"""A scan and an export follow the same rules: a scan finds exactly what an export redacts."""

import pytest
from antiphon_shared.events import QuerySubmitted

from antiphon.recording.lines import EventLine, Line, encode_line
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.redaction.scan import Scanner
from antiphon.recording.settings import RecordingSettings
from tests.antiphon.recording.recorded import events
from tests.shared.redaction.forms import Form, halves
from tests.shared.redaction.test_values_in_text import HARMLESS

RULES = RecordingSettings().rules


def asked(lines: list[Line], query: str) -> Line:
    """Return the session's query with that text."""
    line = next(line for line in events(lines) if isinstance(line.event.data, QuerySubmitted))
    data = line.event.data.model_copy(update={"query": query})
    return EventLine(line.n, line.entry, line.event.model_copy(update={"data": data}))


def exported(line: Line) -> bytes:
    redaction = Redaction.of(RULES, ())
    redaction.learn(line)
    return encode_line(redaction.line(line))


@pytest.mark.parametrize("form", halves()[0], ids=lambda form: form.name)
def test_a_scan_finds_exactly_the_secrets_that_an_export_redacts(
    courses_lines: list[Line], form: Form
) -> None:
    text, secrets = form.filled(0)
    line = asked(courses_lines, text)
    clean, scanner = exported(line), Scanner(keys=RULES.keys)
    assert not any(secret.encode() in clean for secret in secrets)
    assert list(scanner.line(encode_line(line), 1))
    assert list(scanner.line(clean, 1)) == []


@pytest.mark.parametrize("text", HARMLESS)
def test_a_scan_reports_nothing_that_an_export_keeps(courses_lines: list[Line], text: str) -> None:
    line = asked(courses_lines, text)
    assert exported(line) == encode_line(line)
    assert list(Scanner(keys=RULES.keys).line(encode_line(line), 1)) == []
