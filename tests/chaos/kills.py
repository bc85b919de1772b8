"""Kills processes at chosen moments.

A process is first frozen (SIGSTOP) and examined. It is killed (SIGKILL) if it is at the wanted moment; else it
resumes. The counts are therefore of the moments at which kills landed, not of those at which they were aimed.
"""

import os
import random
import signal
import time
from collections import Counter
from typing import Literal

from tests.flows.pipeline import Pipeline
from tests.flows.processes import LIMIT_S, component_of

Moment = Literal["model call", "tool call", "read to commit", "submission", "elsewhere"]
"""Inside a model call; inside a tool call; between reading a message and its commit, in neither of the two;
between reading a submission and its acknowledgement; anywhere else, starting up included."""

_PAUSE_MAX_S = 0.03


class Killer:
    """Kills one process after the other, and restarts each at once."""

    def __init__(self, five: Pipeline, choose: random.Random) -> None:
        self.landed: Counter[tuple[str, Moment]] = Counter()
        self._five, self._choose = five, choose

    def kill_in(self, name: str, moment: Moment) -> None:
        """Wait, within LIMIT_S, until the process is at this moment, and kill it."""
        deadline = time.monotonic() + LIMIT_S
        while not self._kill_if(name, moment):
            assert time.monotonic() < deadline, f"{name} was never in a {moment}\n{self._five.logs()}"
            time.sleep(self._choose.uniform(0, _PAUSE_MAX_S))

    def kill(self, name: str) -> None:
        """Kill the process at any moment."""
        assert self._kill_if(name, None)

    def _kill_if(self, name: str, moment: Moment | None) -> bool:
        process = self._five.running[name]
        assert process.poll() is None, f"{name} ended by itself\n{self._five.logs(40)}"
        os.kill(process.pid, signal.SIGSTOP)
        found = self._moment_of(name)
        if moment not in (None, found):
            os.kill(process.pid, signal.SIGCONT)
            return False
        self._five.kill(name)
        self._five.start(name)
        self.landed[name, found] += 1
        return True

    def freeze_in(self, name: str, moment: Moment) -> None:
        """Freeze the process at this moment until others have taken over its messages in flight; then resume it."""
        process, deadline = self._five.running[name], time.monotonic() + LIMIT_S
        os.kill(process.pid, signal.SIGSTOP)
        while self._moment_of(name) != moment:
            os.kill(process.pid, signal.SIGCONT)
            assert time.monotonic() < deadline, f"{name} was never in a {moment}\n{self._five.logs()}"
            time.sleep(self._choose.uniform(0, _PAUSE_MAX_S))
            os.kill(process.pid, signal.SIGSTOP)
        try:
            self._five.until(lambda: not self._five.in_flight(name), f"others at the work of {name}")
        finally:
            os.kill(process.pid, signal.SIGCONT)

    def _moment_of(self, name: str) -> Moment:
        five, component = self._five, component_of(name)
        if five.in_flight(name):
            if component == "reasoning_engine" and five.model.under_way():
                return "model call"
            if component == "tool_dispatcher" and five.ledger.under_way(five.running[name].pid):
                return "tool call"
            return "read to commit"
        if component == "coordinator" and five.let_in(name):
            return "submission"
        return "elsewhere"
