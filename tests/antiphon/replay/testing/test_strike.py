"""Faults in tests: they are injected into work started inside the block, and unused ones are reported."""

import pytest
from antiphon_shared import faults
from antiphon_shared.faults.striking import FaultOnPurpose
from antiphon_shared.process.errors import ConfigurationError

from antiphon.replay.testing.strike import strike


async def test_a_fault_is_injected_once_and_only_inside_the_block() -> None:
    with strike("model.before"):
        with pytest.raises(FaultOnPurpose):
            await faults.pass_point("model.before")
        await faults.pass_point("model.before")
    await faults.pass_point("model.before")


async def test_a_fault_is_injected_at_its_planned_occurrence() -> None:
    with strike("model.before", "raise", "@2"):
        await faults.pass_point("model.before")
        with pytest.raises(FaultOnPurpose):
            await faults.pass_point("model.before")


def test_a_fault_that_never_struck_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="was never triggered"), strike("model.before"):
        pass


def test_a_fault_that_never_struck_hides_no_other_failure() -> None:
    with pytest.raises(LookupError), strike("model.before"):
        raise LookupError


@pytest.mark.parametrize(
    ("point", "action", "message"),
    [
        ("model.before", "kill", "own process"),
        ("nowhere", "raise", "the point does not exist"),
        ("model.before", "fly", "the action does not exist"),
    ],
)
def test_a_fault_that_the_point_cannot_have_is_refused(point: str, action: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message), strike(point, action):
        pass
