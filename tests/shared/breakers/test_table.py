"""All breakers together: their names, their stored form, and the open ones."""

from datetime import UTC, datetime

import pytest
from antiphon_shared.breakers.breaker import CLOSED, Breaker, BreakerState, Ending, ForcedOpen
from antiphon_shared.breakers.outages import NO_OUTAGES
from antiphon_shared.breakers.table import (
    BREAKERS_MAX,
    is_name,
    model_breaker,
    next_to_drop,
    outages_of,
    read_state,
    tool_breaker,
    write_state,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row

BREAKER = Breaker(open_s=15)
NOW = 1_800_000_000.25


def failed(at: float) -> tuple[Ending, ...]:
    return (Ending(at=at, is_failure=True),) * 5


def an_open(opened: float = NOW) -> BreakerState:
    return BreakerState(endings=failed(opened), opened=opened)


_times = st.floats(0, 1e11)
_states = st.builds(
    BreakerState,
    endings=st.lists(st.builds(Ending, at=_times, is_failure=st.booleans()), max_size=5).map(tuple),
    opened=st.none() | _times,
    probed=st.none() | _times,
    held=st.none() | st.builds(ForcedOpen, at=_times, by=st.text(max_size=5), because=st.text(max_size=5)),
)


@given(_states)
def test_a_state_is_read_back_unchanged(state: BreakerState) -> None:
    assert read_state(write_state(state)) == state


@given(st.binary() | st.recursive(st.just(b"1"), lambda inner: inner.map(lambda one: b"[" + one)))
def test_an_unreadable_state_is_closed(raw: bytes) -> None:
    assert read_state(raw) == CLOSED


@given(
    st.dictionaries(st.text(max_size=9).map(tool_breaker) | st.text(max_size=9).map(model_breaker), _states),
    _times,
)
def test_outages_are_computed_from_any_states(states: dict[str, BreakerState], now: float) -> None:
    out = outages_of(states, BREAKER, now)
    assert list(out.tools) == sorted(out.tools)
    assert [one.model for one in out.models] == sorted(one.model for one in out.models)
    assert len(out.tools) + len(out.models) <= len(states)


def test_only_open_circuits_are_reported_as_outages() -> None:
    states = {
        "tool:b": an_open(),
        "tool:a": an_open(),
        "tool:half-open": an_open(NOW - 15),
        "tool:closed": BreakerState(endings=failed(NOW)),
        "model:m": an_open(),
    }
    out = outages_of(states, BREAKER, NOW)
    assert out.tools == ("a", "b")
    assert out.out_until("m", datetime.fromtimestamp(NOW, UTC)) == datetime.fromtimestamp(1_800_000_016, UTC)
    assert outages_of({"tool:a": an_open()}, BREAKER, NOW + 15) == NO_OUTAGES


@given(st.floats(0, 14.9))
def test_an_ongoing_outage_is_reported_identically_over_time(later_s: float) -> None:
    states = {"model:m": an_open(), "tool:t": an_open()}
    assert outages_of(states, BREAKER, NOW + later_s) == outages_of(states, BREAKER, NOW)


@given(st.floats(0, 3_599))
def test_a_circuit_forced_open_is_reported_out_for_an_hour_from_the_next_full_hour(later_s: float) -> None:
    hour = NOW // 3_600 * 3_600
    state = BREAKER.force_open(ForcedOpen(at=hour))
    out = outages_of({"model:m": state}, BREAKER, hour + 0.5 + min(later_s, 3_599))
    assert out.models[0].until == datetime.fromtimestamp(hour + 7_200, UTC)


def test_the_number_of_outages_is_bounded() -> None:
    states = {f"{kind}:{n}": an_open() for kind in ("tool", "model") for n in range(BREAKERS_MAX + 5)}
    out = outages_of(states, BREAKER, NOW)
    assert (len(out.tools), len(out.models)) == (BREAKERS_MAX, BREAKERS_MAX)


@pytest.mark.parametrize("name", ["tool:look_up-2", "model:claude-x", "model:org/m@1:b", "tool:" + "x" * 64])
def test_names(name: str) -> None:
    assert is_name(name)


@each_row("name", ["", "tool", "tool:", "tool:a.b", "tool:a\n", "model:a b", "model:\ud800", "x:y"])
def test_an_invalid_name_is_not_accepted(name: str) -> None:
    assert not is_name(name)


def test_the_least_recent_of_the_closed_goes_first() -> None:
    states = {
        "tool:open": an_open(1.0),
        "tool:new": BreakerState(endings=failed(3)),
        "tool:old": BreakerState(endings=(*failed(1), *failed(2))),
        "tool:held": BREAKER.force_open(ForcedOpen(at=0)),
    }
    assert next_to_drop(states) == "tool:old"
    assert next_to_drop({"tool:open": an_open()}) is None


def test_a_full_table_drops_the_model_that_has_been_open_longest() -> None:
    """Any query may name a model; that must not displace the tools."""
    states = {
        "tool:open": an_open(1.0),
        "model:first": an_open(2.0),
        "model:second": an_open(3.0),
        "model:held": BREAKER.force_open(ForcedOpen(at=0)),
    }
    assert next_to_drop(states) == "model:first"
