"""A redacted recording verifies like any other."""

from pathlib import Path

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AssemblyRequested
from structlog.testing import capture_logs

from antiphon.recording.export import export, export_session
from antiphon.recording.import_session import import_session
from antiphon.recording.lines import Header, Line, Rules
from antiphon.recording.redaction.redact import Redaction
from antiphon.replay.redacted_lines import make_consistent, redacted
from antiphon.replay.reports.text import headline
from antiphon.replay.verify import verify, verify_lines
from tests.antiphon.recording.changed import with_event

WORDS = Redaction.of(Rules(patterns=("Payments Engineering",)), ())


def test_events_derived_from_redacted_text_are_computed_again(courses_lines: list[Line]) -> None:
    redaction = WORDS.anew()
    for line in courses_lines:
        redaction.learn(line)
    assert not verify_lines([redaction.line(line) for line in courses_lines]).is_same
    shown = redacted(courses_lines, WORDS)
    assert verify_lines(shown).is_same
    assert "Payments Engineering" not in str(shown)


async def test_an_export_that_is_redacted_verifies(
    courses_lines: list[Line], bus: Bus, tmp_path: Path
) -> None:
    header = courses_lines[0]
    assert isinstance(header, Header)
    await import_session(bus, courses_lines)
    written = await export_session(bus, header.session_id, tmp_path, WORDS, make_consistent=make_consistent)
    assert written.redactions
    assert verify(written.path).is_same
    assert "Payments Engineering" not in written.path.read_text()


def decided_otherwise(lines: list[Line]) -> list[Line]:
    return with_event(lines, AssemblyRequested, lambda data: data.model_copy(update={"status": "partial"}))


def test_a_session_that_today_decides_otherwise_keeps_its_decisions(courses_lines: list[Line]) -> None:
    shown = redacted(decided_otherwise(courses_lines), WORDS)
    assert "Payments Engineering" not in str(shown)
    assert any(
        one.path == "status" and one.expected == "partial" for one in verify_lines(shown).divergences
    ), "it would verify if it were made consistent by today's code"


async def test_an_export_reports_that_its_session_does_not_verify(
    courses_lines: list[Line], bus: Bus, tmp_path: Path
) -> None:
    header, lines = courses_lines[0], decided_otherwise(courses_lines)
    assert isinstance(header, Header)
    await import_session(bus, lines)
    written = await export_session(bus, header.session_id, tmp_path, WORDS, make_consistent=make_consistent)
    assert written.diverges == headline(verify_lines(lines))
    assert "coordinator, antiphon.assembly.requested.v1 status" in written.diverges
    assert verify(written.path).result == "diverged"
    with capture_logs() as logs:
        await export(bus, header.session_id, tmp_path, WORDS, make_consistent=make_consistent)
    assert [(one["event"], one["first"]) for one in logs] == [
        ("redacted_recording_diverges", written.diverges)
    ]
