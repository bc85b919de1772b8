"""With any fault at any point, no message is lost, no step is repeated, and every query has its one answer."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pytest
from antiphon_shared.events import Component
from antiphon_shared.faults.striking import STRUCK
from antiphon_shared.process.runner import FAULTS_ALLOWED

from tests.chaos.fault_report import FAULTS
from tests.chaos.fault_waves import Wave, long_form, short_form
from tests.chaos.traffic import Traffic
from tests.flows.pipeline import Pipeline
from tests.flows.processes import LIMIT_S, component_of
from tests.flows.promises import (
    OVERDUE,
    assert_each_answered_once,
    assert_late,
    assert_undisturbed,
    is_alone,
)
from tests.flows.recorded import assert_recordings_verify

pytestmark = [pytest.mark.chaos, pytest.mark.long]

WAVES = long_form() if os.environ.get("CHAOS_FAULTS") == "all" else short_form()
STRIKE_LIMIT_S = DRAIN_LIMIT_S = 120.0
OPEN_MAX = 6
STILL_S = 2.0
"""Longer than a lease."""


@pytest.mark.parametrize("wave", WAVES, ids=[wave.name for wave in WAVES])
def test_a_fault_at_any_point_breaks_no_promise(five: Pipeline, wave: Wave) -> None:
    FAULTS.broken += 1  # until all of it holds
    traffic = Traffic(five, wave.name, OPEN_MAX)
    with failing(five, wave) as names:
        five.until(
            lambda: all(results_of(five, name) for name in names.values()), "processes that are to fail"
        )
        with traffic.flowing():
            wait_until_all_struck(five, wave, names)
            kill_hanging_processes(five, names)
        for name in names.values() if wave.is_survived else ():
            assert five.running[name].poll() is None, f"{name} did not survive\n{five.logs(40)}"
    FAULTS.sessions += len(traffic.session_ids)
    assert_no_promise_is_broken(five, traffic)
    FAULTS.broken -= 1


@contextmanager
def failing(five: Pipeline, wave: Wave) -> Iterator[dict[Component, str]]:
    """Start one more process of each component of the wave, next to the healthy ones; return its name by component."""
    names = {component: f"{component}-{wave.name}" for component in wave.faults}
    for component, faults in wave.faults.items():
        settings = {"ANTIPHON_FAULTS": ", ".join(faults), "ANTIPHON_FAULTS_ALLOWED": FAULTS_ALLOWED}
        five.start(names[component], **settings)
    try:
        yield names
    finally:
        for name in names.values():
            process = five.running[name]
            if process.poll() is None:
                five.terminate(name, LIMIT_S)
            del five.running[name]


def wait_until_all_struck(five: Pipeline, wave: Wave, names: dict[Component, str]) -> None:
    """Wait until the log of each process shows that its fault was injected."""
    deadline = time.monotonic() + STRIKE_LIMIT_S
    while missing := {c: left for c in wave.faults if (left := set(wave.faults[c]) - struck(five, names[c]))}:
        assert time.monotonic() < deadline, f"these faults never struck: {missing}\n{five.logs(3)}"
        for component, faults in missing.items():
            if any(fault.startswith("reader.reclaimed:") for fault in faults):
                suspend(five, component)
        time.sleep(0.05)
    FAULTS.struck.update(fault for written in wave.faults.values() for fault in written)


def struck(five: Pipeline, name: str) -> set[str]:
    """Return the faults injected in a process, as they were written."""
    return {line["fault"] for line in results_of(five, name) if line["event"] == STRUCK}


def results_of(five: Pipeline, name: str) -> list[dict[str, Any]]:
    """Return the whole lines of a process's log; the first says that the process is armed."""
    lines = (five.folder / f"{name}.log").read_bytes().splitlines(keepends=True)
    return [orjson.loads(line) for line in lines if line.startswith(b"{") and line.endswith(b"}\n")]


def suspend(five: Pipeline, component: Component) -> None:
    """Stop the component's other process for longer than a lease, so that its work is reclaimed."""
    process = five.running[component]
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(STILL_S)
    os.kill(process.pid, signal.SIGCONT)


def kill_hanging_processes(five: Pipeline, names: dict[Component, str]) -> None:
    """End processes with a task that hangs: it holds its message for as long as the process lives."""
    for name in names.values():
        if any(":hang" in fault for fault in struck(five, name)):
            five.kill(name)


def assert_no_promise_is_broken(five: Pipeline, traffic: Traffic) -> None:
    five.until(lambda: traffic.is_answered, "all sessions answered", DRAIN_LIMIT_S)
    five.wait_until_idle()
    for name, process in five.running.items():
        assert process.poll() is None, f"{component_of(name)} ended by itself\n{five.logs(40)}"
    responses = [one for one in five.responses() if one.session_id in set(traffic.session_ids)]
    assert_each_answered_once(responses, traffic.session_ids)
    assert_recordings_verify(five, traffic.session_ids)
    for response in responses:
        log = five.log(response.session_id)
        if any(event["type"] == OVERDUE for event in log):
            assert_late(response, log)
            FAULTS.overdue += is_alone(response)
            continue
        FAULTS.unknown_outcomes += assert_undisturbed(five, response, may_read_again=True)
