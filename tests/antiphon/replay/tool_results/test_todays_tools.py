"""Recorded calls of reading tools, made again with today's."""

import socket
from typing import Any

import pytest

from antiphon.recording.lines import Line
from antiphon.replay.report import Reason, Report
from antiphon.replay.tool_results.todays_tools import TodaysTools
from tests.antiphon.replay.tool_results import shop
from tests.antiphon.replay.tool_results.conftest import SHOP

CUT = Reason("tools", "read_log: its result was cut")
REDACTED = Reason("tools", "login_of: its result was redacted")


def check(lines: list[Line], *volatile: str, modules: str = SHOP, **more: Any) -> Report:
    with TodaysTools(modules, volatile, **more) as tools:
        return tools.check(lines, Report("s", 0, {}))


def found(report: Report) -> list[tuple[str, str, object, object]]:
    return [(one.output.split(",")[0], one.path, one.expected, one.got) for one in report.divergences]


def test_unchanged_results_of_tools_are_the_same(shop_lines: list[Line]) -> None:
    report = check(shop_lines)
    assert found(report) == []
    assert report.steps == {"tools": 6}


def test_a_tool_with_another_result_is_named_with_the_path(shop_lines: list[Line]) -> None:
    shop.changes.add("price")
    report = check(shop_lines)
    assert found(report) == [("result of find_order", "total", 12.5, 12.9)]
    assert report.divergences[0].type == "antiphon.tools.completed.v1"


def test_a_changed_error_message_is_a_difference(shop_lines: list[Line]) -> None:
    shop.changes.add("words")
    assert [one[:2] for one in found(check(shop_lines))] == [("result of refuse", "error.message")]


def test_a_cut_or_redacted_result_is_unchecked_and_not_same(shop_lines: list[Line]) -> None:
    assert check(shop_lines).unchecked == {CUT: 1, REDACTED: 1}


def test_only_a_redacted_value_may_differ_and_not_the_fields_next_to_it(shop_lines: list[Line]) -> None:
    shop.changes.add("login")
    assert check(shop_lines).unchecked[REDACTED] == 1
    shop.changes.add("user")
    assert found(check(shop_lines)) == [("result of login_of", "user", "C-1", "nobody")]


def test_a_write_is_never_run_and_is_reported_as_left_out(shop_lines: list[Line]) -> None:
    report = check(shop_lines)
    assert "send_parcel" not in shop.calls
    assert report.not_run == {Reason("tools", "send_parcel: a write"): 1}


def test_a_read_that_has_become_a_write_is_not_run_either(
    shop_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = shop.find_order.contract.model_copy(update={"effect": "write"})
    monkeypatch.setattr(shop.find_order, "contract", contract)
    report = check(shop_lines)
    assert report.unchecked[Reason("tools", "find_order: it is a write now, which is never run")] == 1
    assert "find_order C-1" not in shop.calls


def test_a_removed_tool_is_unchecked(shop_lines: list[Line]) -> None:
    report = check(shop_lines, modules=f"{SHOP}:find_order")
    assert report.unchecked[Reason("tools", "ask_weather: the tool no longer exists")] == 1


def test_calls_keep_to_the_concurrency_of_their_contract(shop_lines: list[Line]) -> None:
    check(shop_lines)
    assert shop.calls.count("ask_warehouse mast") == 1
    assert shop.most_under_way == 1


def test_a_transient_failure_is_retried_according_to_the_contract(shop_lines: list[Line]) -> None:
    shop.changes.add("flaky")
    assert found(check(shop_lines)) == []
    assert shop.calls.count("ask_warehouse sail") == 2


def test_a_call_that_does_not_end_in_time_is_a_difference(shop_lines: list[Line]) -> None:
    shop.changes.add("slow")
    got = [one[3] for one in found(check(shop_lines)) if one[1] == "error"]
    assert [error["error_type"] for error in got if isinstance(error, dict)] == ["timeout"] * 3


def test_a_tool_that_connects_to_another_machine_is_denied_and_unchecked(shop_lines: list[Line]) -> None:
    shop.changes.add("network")
    report = check(shop_lines)
    assert any("ask_weather: the network was denied" in reason.why for reason in report.unchecked)
    assert [one for one in found(report) if "weather" in one[0]] == []


def test_the_network_is_available_where_allowed(
    shop_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = []
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: reached.append(address))
    shop.changes.add("network")
    assert found(check(shop_lines, allows_network=True)) == []
    assert ("192.0.2.1", 80) in reached


def test_volatile_fields_may_differ_within_their_matcher(shop_lines: list[Line]) -> None:
    shop.changes |= {"price", "time"}
    assert len(found(check(shop_lines))) == 2
    assert [one[1] for one in found(check(shop_lines, "$.read_at"))] == ["total"]
    assert found(check(shop_lines, "find_order:$.read_at=type", "$.total=numeric:0.5")) == []
    assert [one[1] for one in found(check(shop_lines, "refuse:$..read_at", "$.total=numeric:0.1"))] == [
        "total",
        "read_at",
    ]
