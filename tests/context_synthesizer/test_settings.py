"""Settings out of range are refused by name."""

import pytest

from context_synthesizer.settings import ContextSynthesizerSettings
from shared.errors import ConfigurationError
from shared.settings import load


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BRIEFING_TOKENS", "499"),
        ("BRIEFING_TOKENS", "many"),
        ("MEMORY_BYTES_MAX", "0"),
        ("CONCURRENCY", "-1"),
        ("BREIFING_TOKENS", "1000"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = f"ANTIPHON_CONTEXT_SYNTHESIZER_{name}"
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=variable):
        load(ContextSynthesizerSettings)
