"""A recording as today's code would have written it."""

from pathlib import Path

import pytest

from antiphon.recording import update as update_module
from antiphon.recording.lines import EventLine, Header, Line, encode_line
from antiphon.recording.rewriting import rewritten
from antiphon.recording.update import TakesAnotherWay, updated
from antiphon.recording.verify import verify_lines
from coordinator import limits, requests
from shared.errors import UnreadableEvent
from shared.events import QuerySubmitted, ReasoningRequested, ToolsRequested
from tests.antiphon.recording.changed import with_event, with_words, written
from tests.antiphon.recording.recorded import end, events


def test_what_today_s_code_has_written_stays_letter_for_letter(courses_lines: list[Line]) -> None:
    assert list(map(encode_line, updated(courses_lines))) == list(map(encode_line, courses_lines))
