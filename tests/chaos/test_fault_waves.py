"""The waves cover every point: a point added to the table is tested from then on."""

from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.faults.plan import read_faults
from antiphon_shared.faults.points import POINTS

from tests.chaos.fault_waves import Wave, long_form, short_form


def walked(waves: list[Wave]) -> set[tuple[str, str, str]]:
    """Return (component, point, action) of all waves, as ANTIPHON_FAULTS is read."""
    return {
        (component, fault.point, fault.action)
        for wave in waves
        for component, written in wave.faults.items()
        for fault in read_faults(",".join(written))
    }


def test_the_long_form_walks_every_action_of_every_point_in_every_component() -> None:
    assert walked(long_form()) == {
        (component, point.name, action)
        for point in POINTS.values()
        for component in point.components
        for action in point.actions
    }


def test_the_short_form_kills_at_every_point() -> None:
    killed = {point for _, point, action in walked(short_form()) if action == "kill"}
    assert killed == {point.name for point in POINTS.values() if "kill" in point.actions}


def test_the_short_form_has_every_action_and_fails_every_component() -> None:
    assert {action for _, _, action in walked(short_form())} == {
        action for point in POINTS.values() for action in point.actions
    }
    assert {component for component, _, _ in walked(short_form())} == set(COMPONENTS)


def test_a_fault_that_ends_a_process_is_the_only_one_of_its_process_in_a_wave() -> None:
    for wave in [*short_form(), *long_form()]:
        for written in wave.faults.values():
            ends = [fault for fault in read_faults(",".join(written)) if fault.action in ("kill", "hang")]
            assert not ends or len(written) == 1


def test_no_two_waves_share_a_name() -> None:
    for waves in (short_form(), long_form()):
        assert len({wave.name for wave in waves}) == len(waves)
