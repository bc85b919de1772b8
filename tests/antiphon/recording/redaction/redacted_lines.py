"""Lines of a recording as an export redacts them."""

from collections.abc import Iterable

from antiphon.recording.lines import (
    Line,
    Rules,
    decode_line,
    encode_line,
)
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.settings import RecordingSettings

RULES = RecordingSettings().rules


def redacted(lines: Iterable[Line], rules: Rules = RULES, secrets: Iterable[str] = ()) -> list[Line]:
    """Return the lines as an export writes them, read again."""
    lines, redaction = list(lines), Redaction.of(rules, secrets)
    for line in lines:
        redaction.learn(line)
    return [decode_line(encode_line(redaction.line(line))) for line in lines]
