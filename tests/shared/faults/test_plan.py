"""The forms of ANTIPHON_FAULTS, and when each fault is injected."""

import pytest
from antiphon_shared.faults.plan import FAULTS_MAX, Fault, read_faults
from antiphon_shared.faults.points import ACTIONS, POINTS, Point
from antiphon_shared.process.errors import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row


def the_fault(text: str) -> Fault:
    (fault,) = read_faults(text)
    return fault


def times(text: str, up_to: int = 12) -> list[int]:
    """Return the occurrences at which it is injected."""
    return [n for n in range(1, up_to + 1) if the_fault(text).strikes(n)]


def test_an_empty_setting_means_no_fault() -> None:
    assert read_faults("") == read_faults(" , ,") == ()


def test_a_fault_names_its_point_its_action_and_its_seconds() -> None:
    several = read_faults("commit.before:kill@3, model.before:raise ,tool.before:delay=0.5*10%")
    assert [(fault.point, fault.action, fault.seconds) for fault in several] == [
        ("commit.before", "kill", 0),
        ("model.before", "raise", 0),
        ("tool.before", "delay", 0.5),
    ]
    assert several[0].text == "commit.before:kill@3"


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("", [1]),
        ("@3", [3]),
        ("@2-4", [2, 3, 4]),
        ("@12-12", [12]),
        ("@every=5", [5, 10]),
        ("@every=1", list(range(1, 13))),
        ("*100%", list(range(1, 13))),
    ],
)
def test_a_fault_is_injected_at_its_stated_occurrences(which: str, expected: list[int]) -> None:
    assert times(f"commit.before:kill{which}") == expected


def test_a_fault_with_a_share_is_injected_at_that_rate_and_reproducibly() -> None:
    tenth = times("commit.before:kill*10%", 10_000)
    assert 800 < len(tenth) < 1_200
    assert tenth == times("commit.before:kill*10%~0", 10_000)
    assert tenth != times("commit.before:kill*10%~7", 10_000)
    assert tenth != times("commit.after:kill*10%", 10_000)


@each_row(
    ("text", "words"),
    [
        ("commit.befor:kill", "the point does not exist. There are reader.read.before, "),
        ("commit.before:explode", "the action does not exist. There are kill, raise, "),
        ("commit.before:disconnect", "disconnect is not possible at this point"),
        ("tool.running:raise", "raise is not possible at this point"),
        ("commit.before", "is not a fault"),
        ("commit.before:kill@", "is not a fault"),
        ("commit.before:kill@x", "is not a fault"),
        ("commit.before:kill@-1", "is not a fault"),
        ("commit.before:kill@1@2", "is not a fault"),
        ("commit.before:kill*10", "is not a fault"),
        ("commit.before:kill@0", "invalid occurrences"),
        ("commit.before:kill@4-2", "invalid occurrences"),
        ("commit.before:kill@every=0", "never occurs"),
        ("commit.before:kill*0%", "not a number above 0"),
        ("commit.before:kill*101%", "not a number above 0"),
        ("commit.before:kill*1.2.3%", "not a number above 0"),
        ("commit.before:delay", "how many seconds"),
        ("commit.before:delay=", "is not a fault"),
        ("commit.before:delay=0", "not a number above 0"),
        ("commit.before:delay=1e9", "is not a fault"),
        ("commit.before:freeze=99999", "not a number above 0"),
        ("commit.before:kill=3", "it takes no seconds"),
        ("commit.before:kill," * (FAULTS_MAX + 1), "are allowed"),
    ],
)
def test_an_invalid_fault_is_refused_with_the_available_options(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        read_faults(text)
    assert str(refusal.value).startswith("ANTIPHON_FAULTS: ")
    assert words in str(refusal.value)
    assert refusal.value.hint


@given(st.text(st.characters(exclude_categories=()), max_size=60) | st.text(":@=*%-.,~0123456789aekilnrvy "))
def test_any_plan_is_read_or_refused(text: str) -> None:
    try:
        read_faults(text)
    except ConfigurationError:
        return


@given(st.sampled_from([*POINTS.values()]), st.sampled_from([*ACTIONS]), st.integers(1, 1_000))
def test_every_action_of_every_point_can_be_planned_or_is_refused(point: Point, action: str, n: int) -> None:
    seconds = "=0.5" if action in ("delay", "freeze") else ""
    text = f"{point.name}:{action}{seconds}@{n}"
    if action in point.actions:
        assert the_fault(text).strikes(n)
    else:
        with pytest.raises(ConfigurationError, match="is not possible at this point"):
            read_faults(text)
