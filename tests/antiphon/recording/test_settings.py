"""Rules of redaction from the environment; those that cannot be read are refused with their variable."""

from pathlib import Path

import pytest
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import load
from antiphon_shared.redaction.secret_keys import ALWAYS

from antiphon.recording.settings import RecordingSettings

PAGE = Path(__file__).parents[3] / "docs" / "redaction.md"


def test_keys_are_added_to_those_that_always_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_RECORDING_KEYS", "*phone*,birthday")
    monkeypatch.setenv("ANTIPHON_RECORDING_KEYS_KEPT", "page_token")
    monkeypatch.setenv("ANTIPHON_RECORDING_PATHS", "$..email, $.data.query")
    monkeypatch.setenv("ANTIPHON_RECORDING_PATTERNS", r'["\\bACME-\\d{2,5}"]')
    rules = load(RecordingSettings).rules
    assert rules.keys == (*ALWAYS, "*phone*", "birthday", "!page_token")
    assert rules.paths == ("$..email", "$.data.query")
    assert rules.patterns == (r"\bACME-\d{2,5}",)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PATHS", "$.a[?(@.b)]", "invalid at"),
        ("PATTERNS", '["("]', "unterminated"),
        ("HEADERS", "a b", "a header"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"ANTIPHON_RECORDING_{name}", value)
    with pytest.raises(ConfigurationError, match=f"ANTIPHON_RECORDING_{name}.*{message}"):
        load(RecordingSettings)


def test_the_page_lists_the_keys_that_always_count() -> None:
    assert all(f"`{key}`" in PAGE.read_text() for key in ALWAYS)
