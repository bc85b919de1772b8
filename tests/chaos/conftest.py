"""One pipeline for all chaos tests, and the report at the end."""

import os
from collections.abc import Iterator

import pytest

from tests.chaos.fault_report import FAULTS
from tests.chaos.report import REPORT
from tests.chaos.write_report import WRITES
from tests.flows.pipeline import Pipeline, pipeline


@pytest.fixture(scope="module")
def five() -> Iterator[Pipeline]:
    """Run five processes with short leases, so that messages of killed ones are reclaimed soon, and slow steps.

    CHAOS_PROCESSES=1 runs all components in one process.
    """
    with pipeline(
        wait_s=0.06,
        processes=int(os.environ.get("CHAOS_PROCESSES", "5")),
        LEDGER_WAIT_S="0.06",
        ANTIPHON_BUS_LEASE_S="1.5",
        ANTIPHON_BUS_MAX_DELIVERIES="100",
        ANTIPHON_LOG_LEVEL="warning",
    ) as pipeline_of_five:
        yield pipeline_of_five


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if REPORT.landed:
        terminalreporter.section("chaos")
        for line in REPORT.lines():
            terminalreporter.write_line(line)
    if FAULTS.struck:
        terminalreporter.section("chaos: fault points")
        for line in FAULTS.lines():
            terminalreporter.write_line(line)
    if WRITES.batches:
        terminalreporter.section("chaos: writes")
        for line in WRITES.lines():
            terminalreporter.write_line(line)
