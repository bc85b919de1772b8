"""What is redacted verifies like any other recording."""

from pathlib import Path

from antiphon_shared.bus.redis_bus import Bus

from antiphon.recording.export import export_session
from antiphon.recording.lines import Header, Line, Rules
from antiphon.recording.put_back import put_back
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.redaction.redacted_lines import redacted
from antiphon.recording.verify import verify, verify_lines

WORDS = Redaction.of(Rules(patterns=("Payments Engineering",)), ())


def test_what_followed_from_words_that_are_gone_is_made_anew(courses_lines: list[Line]) -> None:
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
    await put_back(bus, courses_lines)
    written = await export_session(bus, header.session_id, tmp_path, WORDS)
    assert written.redactions
    assert verify(written.path).is_same
    assert "Payments Engineering" not in written.path.read_text()
