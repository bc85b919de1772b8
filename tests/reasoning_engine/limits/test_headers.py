"""What is believed of a server's headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoning_engine.limits.headers import Told, told_by
from reasoning_engine.limits.meters import METERS

NAMES = [
    f"anthropic-ratelimit-{meter.replace('_', '-')}-{what}"
    for meter in METERS
    for what in ("limit", "remaining", "reset")
]
NOW = "Sun, 22 Nov 2026 12:00:00 GMT"


def of_requests(**headers: str) -> dict[str, str]:
    return {f"anthropic-ratelimit-requests-{name}": value for name, value in headers.items()} | {"date": NOW}


def test_each_meter_is_told_by_headers_of_its_own() -> None:
    headers = {name: str(100 * n) for n, name in enumerate(NAMES, 1)}
    assert told_by(headers) == {
        "requests": Told(100, 100),
        "tokens": Told(400, 400),
        "input_tokens": Told(700, 700),
        "output_tokens": Told(1000, 1000),
    }


def test_a_server_may_say_nothing_or_a_limit_alone() -> None:
    assert told_by({}) == {}
    assert told_by(of_requests(limit="50")) == {"requests": Told(50)}
    assert told_by(of_requests(remaining="50")) == {}


@pytest.mark.parametrize(
    ("reset", "remaining"),
    [
        ("2026-11-22T12:00:15Z", 45),
        ("2026-11-22T13:00:30+01:00", 30),
        ("2026-11-22T12:00:00Z", 60),
        ("2026-11-22T12:01:00Z", 0),
        ("2026-11-22T12:01:01Z", None),
        ("2026-11-22T11:59:59Z", None),
        ("2026-11-22T12:00:15", None),
        ("soon", None),
        ("9" * 5000, None),
    ],
)
def test_where_what_is_left_is_not_told_the_time_until_it_is_full_tells(
    reset: str, remaining: int | None
) -> None:
    assert told_by(of_requests(limit="60", reset=reset)) == {"requests": Told(60, remaining)}
    assert told_by(of_requests(limit="60", reset=reset, remaining="7")) == {"requests": Told(60, 7)}


@pytest.mark.parametrize(
    "limit",
    [
        "0",
        "-5",
        "1e3",
        "50.5",
        "nan",
        "inf",
        "",
        " 50",
        "+50",
        "٥٠",
        "²",
        "1000000001",
        "9" * 4999,
        "0x10",
        "1_0",
    ],
)
def test_a_limit_that_no_server_can_mean_is_ignored(limit: str) -> None:
    assert told_by(of_requests(limit=limit, remaining="0")) == {}


def test_a_limit_of_few_tokens_would_stop_everything_and_is_ignored() -> None:
    assert told_by({"anthropic-ratelimit-output-tokens-limit": "99"}) == {}


def test_no_more_is_left_than_the_limit() -> None:
    assert told_by(of_requests(limit="50", remaining="51")) == {"requests": Told(50, 50)}


@given(st.dictionaries(st.sampled_from([*NAMES, "date"]), st.text(max_size=40)))
def test_headers_may_hold_anything(headers: dict[str, str]) -> None:
    for told in told_by(headers).values():
        assert 1 <= told.limit <= 10**9
        assert told.remaining is None or 0 <= told.remaining <= told.limit
