"""TRAVEL_FAILURES: which calls fail, how, and with which remaining effects."""

from pathlib import Path

import pytest

from examples.travel import cancel_booking, create_booking, process_payment, search_flights
from examples.travel.service import ledger
from tests.examples.processes import first_line, running
from tests.examples.travel.test_tools import MAY, keyed
from tool_dispatcher.authoring.tool import ToolFailed

SEARCH = """
from datetime import date
from examples.travel import search_flights
from antiphon import ToolFailed
try:
    print(len(search_flights("NYC", "LIS", date(2030, 5, 1))))
except ToolFailed as failed:
    print(failed.error_type)
"""


def outcome(key: str = "k1") -> str:
    try:
        return create_booking("NYC-LIS-20300501-1", "Ada Quill", keyed(key)).booking
    except ToolFailed as failed:
        return failed.code or failed.error_type


@pytest.mark.parametrize(
    ("failures", "outcomes"),
    [
        ("", ["B-1001", "B-1002", "B-1003"]),
        ("create_booking", ["api_failure", "api_failure", "api_failure"]),
        ("create_booking:2", ["api_failure", "api_failure", "B-1001"]),
        ("create_booking:declined:1", ["DECLINED", "B-1001", "B-1002"]),
        (
            " create_booking:down:1 , create_booking:declined:1,process_payment",
            ["api_failure", "DECLINED", "B-1001"],
        ),
    ],
)
def test_the_first_calls_fail_or_all_of_them_and_without_an_effect(
    failures: str, outcomes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAVEL_FAILURES", failures)
    assert [outcome("k1"), outcome("k2"), outcome("k3")] == outcomes
    assert len(ledger()) == sum(one.startswith("B-") for one in outcomes)


def test_a_write_with_a_lost_answer_took_effect_and_is_answered_under_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(
        "TRAVEL_FAILURES", "create_booking:timeout:1,process_payment:timeout,search_flights:timeout"
    )
    assert [outcome(), outcome()] == ["outcome_unknown", "B-1001"]
    with pytest.raises(ToolFailed) as failed:
        process_payment("B-1001", 419, keyed("p"))
    assert failed.value.error_type == "validation_error", (
        "a refusal is answered, or it would be taken for a write"
    )
    with pytest.raises(ToolFailed) as failed:
        search_flights("NYC", "LIS", MAY)
    assert failed.value.error_type == "timeout"
    assert [one.tool for one in ledger()] == ["create_booking"]


def test_calls_are_counted_over_all_processes() -> None:
    environment = {"TRAVEL_FAILURES": "search_flights:1"}
    outcomes = []
    for _ in range(2):
        with running("-c", SEARCH, environment=environment) as process:
            outcomes.append(first_line(process))
    assert outcomes == ["api_failure", "3"]


@pytest.mark.parametrize("entry", ["create_booking:late", "create booking", ":1", "cancel_booking:1:down"])
def test_an_entry_that_cannot_be_read_is_named(entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAVEL_FAILURES", entry)
    with pytest.raises(ToolFailed, match=f"'{entry}'") as failed:
        cancel_booking("B-1001", keyed("k"))
    assert "such as book_hotel:down:1" in (failed.value.suggested_action or "")


def test_a_database_that_cannot_be_opened_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAVEL_DATABASE", str(tmp_path))
    with pytest.raises(
        ToolFailed, match=r"cannot be used: unable to open database file\. Nothing was written"
    ):
        cancel_booking("B-1001", keyed("k"))
