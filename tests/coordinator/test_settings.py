"""Settings of the coordinator that are more than a number."""

import pytest
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import load

from coordinator.settings import CoordinatorSettings


def test_weights_are_read_from_a_comma_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_COORDINATOR_TENANT_WEIGHTS", "gold=4, trial=0.5")
    assert load(CoordinatorSettings).weights == {"gold": 4.0, "trial": 0.5}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("gold", "is not a tenant with its weight"),
        ("gold=-1", "is not a tenant with its weight"),
        ("gold=nan", "is not a tenant with its weight"),
        ("gold=0", "the weight of gold is 0"),
        ("gold=0.00", "the weight of gold is 0"),
        ("gold=1,gold=2", "gold has two weights"),
    ],
)
def test_an_invalid_weight_is_refused(monkeypatch: pytest.MonkeyPatch, given: str, message: str) -> None:
    monkeypatch.setenv("ANTIPHON_COORDINATOR_TENANT_WEIGHTS", given)
    with pytest.raises(ConfigurationError, match=message):
        load(CoordinatorSettings)
