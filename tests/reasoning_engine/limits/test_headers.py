"""The parts of a server's headers that count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoning_engine.limits.headers import ReportedLimits, limits_in
from reasoning_engine.limits.meters import METERS
from tests.rows import each_row

NAMES = [
    f"anthropic-ratelimit-{meter.replace('_', '-')}-{what}"
    for meter in METERS
    for what in ("limit", "remaining", "reset")
]
NOW = "Sun, 22 Nov 2026 12:00:00 GMT"


def of_requests(**headers: str) -> dict[str, str]:
    return {f"anthropic-ratelimit-requests-{name}": value for name, value in headers.items()} | {"date": NOW}


def test_each_meter_is_read_from_its_own_headers() -> None:
    headers = {name: str(100 * n) for n, name in enumerate(NAMES, 1)}
    assert limits_in(headers) == {
        "requests": ReportedLimits(100, 100),
        "tokens": ReportedLimits(400, 400),
        "input_tokens": ReportedLimits(700, 700),
        "output_tokens": ReportedLimits(1000, 1000),
    }


def test_a_server_may_report_no_headers_or_only_a_limit() -> None:
    assert limits_in({}) == {}
    assert limits_in(of_requests(limit="50")) == {"requests": ReportedLimits(50)}
    assert limits_in(of_requests(remaining="50")) == {}


@each_row(
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
def test_without_a_remaining_count_the_time_until_the_reset_gives_it(
    reset: str, remaining: int | None
) -> None:
    assert limits_in(of_requests(limit="60", reset=reset)) == {"requests": ReportedLimits(60, remaining)}
    assert limits_in(of_requests(limit="60", reset=reset, remaining="7")) == {
        "requests": ReportedLimits(60, 7)
    }


@each_row(
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
    assert limits_in(of_requests(limit=limit, remaining="0")) == {}


def test_a_limit_of_few_tokens_would_stop_everything_and_is_ignored() -> None:
    assert limits_in({"anthropic-ratelimit-output-tokens-limit": "99"}) == {}


def test_no_more_is_left_than_the_limit() -> None:
    assert limits_in(of_requests(limit="50", remaining="51")) == {"requests": ReportedLimits(50, 50)}


@given(st.dictionaries(st.sampled_from([*NAMES, "date"]), st.text(max_size=40)))
def test_headers_may_hold_anything(headers: dict[str, str]) -> None:
    for limit in limits_in(headers).values():
        assert 1 <= limit.limit <= 10**9
        assert limit.remaining is None or 0 <= limit.remaining <= limit.limit


def of_chat(meter: str = "requests", **headers: str) -> dict[str, str]:
    return {f"x-ratelimit-{name}-{meter}": value for name, value in headers.items()}


def test_chat_completions_report_limits_of_requests_and_tokens() -> None:
    headers = of_chat(limit="500", remaining="499", reset="120ms") | of_chat(
        "tokens", limit="30000", remaining="29000", reset="2s"
    )
    assert limits_in(headers, "chat") == {
        "requests": ReportedLimits(500, 499),
        "tokens": ReportedLimits(30000, 29000),
    }
    assert limits_in(headers) == {}
    assert limits_in(of_requests(limit="50"), "chat") == {}


@pytest.mark.parametrize(
    ("remaining", "reset", "is_by_the_minute"),
    [
        ("9999", "6ms", True),
        ("9999", "8.64s", False),
        ("0", "59s", True),
        ("5000", "12h0m0s", False),
        ("5000", "nonsense", True),
        ("10000", "1d", True),
    ],
)
def test_a_limit_by_the_day_is_not_taken_for_one_by_the_minute(
    remaining: str, reset: str, is_by_the_minute: bool
) -> None:
    limits = limits_in(of_chat(limit="10000", remaining=remaining, reset=reset), "chat")
    assert bool(limits) == is_by_the_minute


@given(st.dictionaries(st.sampled_from(list(of_chat(limit="", remaining="", reset=""))), st.text()))
def test_no_header_of_chat_completions_is_too_strange(headers: dict[str, str]) -> None:
    limits_in(headers, "chat")
