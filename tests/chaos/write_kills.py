"""Kills and freezes dispatchers where one of their writes is in a certain state.

As in kills.py, a process is first frozen and examined, and the counts are of the states in which kills landed. The
state is read once more when the process is dead, because Redis may have had one of its commands still to execute.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable

from tests.chaos.write_states import CUT, Kind, Record, State, Write
from tests.chaos.writers import NAMES, WAIT_S, Writers
from tests.flows.processes import LIMIT_S

_PAUSE_MAX_S = 0.03


class WriteKiller:
    """Kills one dispatcher after the other, and restarts each at once."""

    def __init__(self, two: Writers, choose: random.Random) -> None:
        self.landed: Counter[tuple[Kind, State]] = Counter()
        """Kills, by the write they were aimed at."""
        self.frozen: Counter[tuple[Kind, State]] = Counter()
        self.in_flight: Counter[tuple[Kind, State]] = Counter()
        """Every write that was in flight when its process was killed."""
        self.kills = 0
        self._two, self._choose = two, choose

    def kill_in(self, kind: Kind, state: State) -> None:
        """Wait, within LIMIT_S, until either process has a write of this kind in this state, and kill it."""
        deadline = time.monotonic() + LIMIT_S
        before = self.landed[kind, state]
        while self.landed[kind, state] == before:
            assert time.monotonic() < deadline, f"no {kind} write was in {state}\n{self._two.logs()}"
            self._kill_if(self._choose.choice(NAMES), kind, state)
            time.sleep(self._choose.uniform(0, _PAUSE_MAX_S))

    def kill(self) -> None:
        """Kill one of the dispatchers at any moment."""
        name = self._choose.choice(NAMES)
        self._stop(name)
        writes = self._two.writes_of(name)
        self._two.kill(name)
        self._note_killed(name, writes)

    def freeze_in(self, kind: Kind, state: State) -> None:
        """Freeze a dispatcher in this state until others have taken over its messages in flight; then resume it."""
        name = self._stopped_in(kind, state)
        pid = self._two.running[name].pid
        try:
            writes = [write for write in self._two.writes_of(name) if write.state in CUT]
            self._two.until(lambda: not self._two.in_flight(name), f"others at the batches of {name}")
            self._two.until(lambda: self._are_taken_over(writes), f"others at the writes of {name}")
            records = self._two.records(write.key for write in writes)
            self._note_cut(write for write in writes if records[write.key].fence > write.fence)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.frozen[kind, state] += 1

    def _kill_if(self, name: str, kind: Kind, state: State) -> None:
        with self._two.without_writes(state == "settle"):
            if state == "settle":  # until runs have ended that cannot be settled
                time.sleep(self._choose.uniform(WAIT_S, 2 * WAIT_S))
            self._stop(name)
            writes = self._two.writes_of(name)
            aimed_at = next((one for one in writes if (one.kind, one.state) == (kind, state)), None)
            if aimed_at is None:
                os.kill(self._two.running[name].pid, signal.SIGCONT)
                return
            self._two.kill(name)
            self._two.barrier()
        landed = self._note_killed(name, writes)
        (where,) = (write.state for write in landed if write.key == aimed_at.key)
        self.landed[kind, where] += 1

    def _note_killed(self, name: str, writes: list[Write]) -> list[Write]:
        """Note and return where a killed process's writes in flight were, and start it again."""
        self._two.barrier()
        landed = self._two.states(name, [(write.kind, write.key) for write in writes])
        self._note_cut(write for write in landed if write.state in CUT)
        self.in_flight.update((write.kind, write.state) for write in landed)
        self.kills += 1
        self._two.start(name)
        return landed

    def _stopped_in(self, kind: Kind, state: State) -> str:
        """Return the name of a process that is stopped with a write at that point."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            name = self._choose.choice(NAMES)
            self._stop(name)
            if any((one.kind, one.state) == (kind, state) for one in self._two.writes_of(name)):
                return name
            os.kill(self._two.running[name].pid, signal.SIGCONT)
            assert time.monotonic() < deadline, f"no {kind} write was in {state}\n{self._two.logs()}"
            time.sleep(self._choose.uniform(0, _PAUSE_MAX_S))

    def _stop(self, name: str) -> None:
        """Stop the process, and wait until all of its threads are stopped."""
        process = self._two.running[name]
        assert process.poll() is None, f"{name} ended by itself\n{self._two.logs(40)}"
        os.kill(process.pid, signal.SIGSTOP)
        seen = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        assert seen is not None
        assert seen.si_code == os.CLD_STOPPED, f"{name} ended by itself\n{self._two.logs(40)}"

    def _are_taken_over(self, writes: list[Write]) -> bool:
        """Return whether all of them have changed since their process was frozen."""
        records = self._two.records(write.key for write in writes)
        return not any(records[write.key] == Record("in_progress", write.fence) for write in writes)

    def _note_cut(self, writes: Iterable[Write]) -> None:
        self._two.cut.update((write.key, write.fence) for write in writes)
