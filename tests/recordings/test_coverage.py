"""The recordings together contain every possible kind of result of a session."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from antiphon_shared.events.coordinator import FallbackStep
from antiphon_shared.events.session import TerminationReason
from antiphon_shared.events.step_records import AnyRecord, BatchRecord, LeftOut
from antiphon_shared.process.ids import CHILD
from antiphon_shared.tools.calls import ErrorType, ToolResult
from antiphon_shared.tools.contract import Contract, ErrorPropagation, Mode

from antiphon.recording.files import read_lines
from antiphon.recording.lines import CatalogueLine, EventLine, Line, RecordLine
from tests.recordings.folder import FOLDER, name_of, recordings_in
from tests.recordings.scenarios import SCENARIOS
from tests.rows import each_row

_BYTES_MAX = 4_500_000


@cache
def lines() -> tuple[Line, ...]:
    return tuple(line for path in _paths() for line in read_lines(path))


def _paths() -> list[Path]:
    return recordings_in(FOLDER)


def data_of(type: str) -> Iterator[Any]:
    for line in lines():
        if isinstance(line, EventLine) and line.event.type == f"antiphon.{type}.v1":
            yield line.event.data


def records() -> Iterator[AnyRecord]:
    return (line.record for line in lines() if isinstance(line, RecordLine))


def results() -> Iterator[ToolResult]:
    return (result for completed in data_of("tools.completed") for result in completed.results)


def contracts_run() -> list[Contract]:
    """Return the contracts of the tools that succeed in any recording."""
    ran = {result.tool for result in results() if result.status == "ok"}
    catalogues = [line.catalogue for line in lines() if isinstance(line, CatalogueLine)]
    return [tool.contract for one in catalogues for tool in one.tools if tool.name in ran]


def test_every_recording_is_of_a_scenario_and_all_of_them_are_small() -> None:
    names = [name_of(path) for path in _paths()]
    assert set(names) <= SCENARIOS.keys()
    assert len(set(names)) == len(names) >= 100
    assert sum(path.stat().st_size for path in _paths()) < _BYTES_MAX


def test_every_recording_ends_as_its_scenario_expects() -> None:
    answers = [data for data in data_of("response.ready") if CHILD not in data.session_id]
    ends = {data.session_id: data.termination_reason for data in answers}
    assert {name: end for name, end in ends.items() if SCENARIOS[name].ends not in ("any", end)} == {}


@each_row("reason", get_args(TerminationReason))
def test_every_reason_to_end_is_recorded(reason: str) -> None:
    assert reason in {data.termination_reason for data in data_of("response.ready")}


@pytest.mark.parametrize("step", get_args(FallbackStep))
def test_every_fallback_step_is_recorded(step: str) -> None:
    assert step in {data.rung for data in data_of("rung.taken")}


@pytest.mark.parametrize("mode", get_args(Mode))
def test_every_mode_of_tools_is_recorded(mode: str) -> None:
    assert mode in {contract.mode for contract in contracts_run()}


@pytest.mark.parametrize("propagation", get_args(ErrorPropagation))
def test_every_propagation_of_errors_is_recorded(propagation: str) -> None:
    assert propagation in {contract.error_propagation for contract in contracts_run()}


@each_row("error", get_args(ErrorType))
def test_every_error_of_a_call_is_recorded(error: str) -> None:
    assert error in {result.error.error_type for result in results() if result.error is not None}


def test_every_part_of_a_contract_is_recorded() -> None:
    contracts = contracts_run()
    assert any(contract.batch for contract in contracts)
    assert any(contract.cache_ttl_s for contract in contracts)
    assert any(contract.idempotent for contract in contracts)
    assert any(contract.reconciles for contract in contracts)
    assert any(contract.rounds for contract in contracts)
    assert any(contract.open_world for contract in contracts)
    assert any(result.substitute for result in results())
    assert {"read_result", "recall", "find_tools", "ask_user"} <= {result.tool for result in results()}


def test_batches_taken_over_from_another_worker_are_recorded() -> None:
    batches = [record for record in records() if isinstance(record, BatchRecord)]
    assert any(batch.settled for batch in batches)
    assert any(batch.begun for batch in batches)
    assert any(batch.refused for batch in batches)


def test_recordings_cover_approval_denial_answer_and_silence_of_people() -> None:
    assert {data.is_approved for data in data_of("approval.decided")} == {True, False}
    assert any(data_of("question.answered"))
    assert any(data_of("person.overdue"))


def test_summaries_are_recorded_that_are_used_and_that_fail() -> None:
    assert any(data_of("summary.completed"))
    assert any(data_of("summary.failed"))


def test_no_record_was_too_large_to_be_kept() -> None:
    assert not any(isinstance(record, LeftOut) for record in records())
