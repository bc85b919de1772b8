"""A system prompt of the operator's own."""

from pathlib import Path

import pytest
from antiphon_shared.process.errors import ConfigurationError

from reasoning_engine.settings import EngineSettings


def test_the_text_of_the_file_is_the_system_prompt(tmp_path: Path) -> None:
    file = tmp_path / "prompt.md"
    file.write_text("\nAnswer in one word.\n")
    assert EngineSettings(prompt_file=str(file)).system_prompt() == "Answer in one word."


def test_without_a_file_the_prompt_is_none() -> None:
    assert EngineSettings().system_prompt() is None


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_file_without_a_text_is_refused_at_start_up(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "prompt.md"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError, match="ANTIPHON_REASONING_ENGINE_PROMPT_FILE"):
        EngineSettings(prompt_file=str(file)).system_prompt()
