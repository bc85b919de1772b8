"""Settings out of range are refused by name."""

import pytest

from response_assembler.settings import ResponseAssemblerSettings
from shared.errors import ConfigurationError
from shared.settings import load


@pytest.mark.parametrize(("name", "value"), [("CONCURRENCY", "0"), ("CONCURRENCY", "x"), ("CONCURENCY", "1")])
def test_a_setting_that_cannot_be_is_refused_by_name(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = f"ANTIPHON_RESPONSE_ASSEMBLER_{name}"
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=variable):
        load(ResponseAssemblerSettings)
