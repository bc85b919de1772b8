"""The disturbances of a soak, and their times. `plan` is pure: one seed gives one series of disturbances."""

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from antiphon_shared.events.base import COMPONENTS

from tests.flows.processes import component_of
from tests.soak.stage import ELDERS, LEASE_S, NAMES, REDIS, Stage, thaw

Kind = Literal[
    "kill",
    "kill all of a kind",
    "restart",
    "freeze",
    "Redis killed",
    "Redis restarted",
    "Redis frozen",
    "connections cut",
    "connections torn",
    "network stalled",
    "network slow",
    "connections refused",
    "clock of a process",
    "clock of Redis",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
_WEIGHTS = (10, 2, 5, 5, 2, 2, 2, 3, 5, 2, 2, 2, 5, 3)

GAP_S = (0.4, 2.4)
"""The time between the beginnings of two disturbances."""
WARM_SHARE = 1 / 3
"""The share of a soak after which the processes whose memory is watched are no longer ended."""
STOP_LIMIT_S = 30.0
"""The time limit for the stop of a process, with any disturbances."""
EXIT_REDIS, EXIT_STUCK = 3, 70
EXPLAINED = (EXIT_REDIS, EXIT_STUCK)
"""Documented exits of a process by itself: no Redis at its start, and a blocked event loop."""
_CLOCK_S, _REDIS_CLOCK_S = 20.0, 4.0
_SLOW_S = 0.03
_PATIENCE_S = 10.0
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned disturbance."""

    at_s: float
    """Its time since the beginning of the soak."""
    kind: Kind
    target: str = ""
    lasts_s: float = 0.0
    ahead_s: float = 0.0
    """The offset of a clock ahead of the machine's."""


@dataclass(slots=True)
class Done:
    """A disturbance that happened. Times are of the monotonic clock, in seconds."""

    planned: Planned
    began_s: float
    ended_s: float | None = None
    shift_s: float = 0.0
    """The jump of Redis's clock into the past; timers are late by as much."""


def plan(seed: int, length_s: float, has_clocks: bool) -> list[Planned]:
    """Return the disturbances of a soak."""
    choose, at_s, planned = random.Random(f"disturbances {seed}"), 0.0, list[Planned]()
    while (at_s := at_s + choose.uniform(*GAP_S)) < length_s:
        (kind,) = choose.choices(KINDS, _WEIGHTS)
        if has_clocks or not kind.startswith("clock"):
            planned.append(_drawn(at_s, kind, choose, at_s < length_s * WARM_SHARE))
    return planned


def _drawn(at_s: float, kind: Kind, choose: random.Random, may_end_elders: bool) -> Planned:
    mortals = NAMES if may_end_elders else [name for name in NAMES if name not in ELDERS]
    match kind:
        case "kill all of a kind" if may_end_elders:
            return Planned(at_s, kind, choose.choice(COMPONENTS))
        case "kill" | "kill all of a kind":
            return Planned(at_s, "kill", choose.choice(mortals))
        case "restart":
            return Planned(at_s, kind, choose.choice(mortals))
        case "freeze":
            return Planned(at_s, kind, choose.choice(NAMES), choose.uniform(0.5, 2.5) * LEASE_S)
        case "Redis frozen" | "network stalled" | "connections refused" | "network slow":
            return Planned(at_s, kind, lasts_s=choose.uniform(0.5, 3.0))
        case "clock of a process":
            return Planned(at_s, kind, choose.choice(NAMES), ahead_s=choose.uniform(-_CLOCK_S, _CLOCK_S))
        case "clock of Redis":
            return Planned(at_s, kind, REDIS, ahead_s=choose.uniform(-_REDIS_CLOCK_S, _REDIS_CLOCK_S))
        case _:
            return Planned(at_s, kind)


class Disturber:
    """Runs the planned disturbances, and restarts processes that have ended."""

    def __init__(
        self, stage: Stage, planned: Sequence[Planned], answered: Callable[[], int], faults_min: int = 0
    ) -> None:
        """Prepare the disturbances; `answered` counts the answers so far.

        On a machine that is too slow for the plan, a part is omitted, but at least `faults_min` remain.
        """
        self.history: list[Done] = []
        self.broken: list[str] = []
        self.self_ended: list[str] = []
        """Processes that ended by themselves for a documented reason."""
        self._stage = stage
        self._began_s = self._last_s = time.monotonic()
        self._answered, self._answered_at_last = answered, 0
        self._coming, self._faults_min = list(planned), faults_min
        self._lasting: list[tuple[float, Done, Callable[[], None]]] = []
        self._stopping: dict[str, float] = {}
        """Processes that were asked to stop, with the time of the request."""
        self._deaf: set[int] = set()
        """The ids of processes that were stopped before Python was loaded."""

    def step(self) -> None:
        """End and begin all disturbances that are due."""
        now = time.monotonic()
        for until_s, done, end in [one for one in self._lasting if one[0] <= now]:
            self._lasting.remove((until_s, done, end))
            end()
            done.ended_s = time.monotonic()
        while self._coming and self._coming[0].at_s <= now - self._began_s:
            is_recovered = self._is_recovered(now)
            if not is_recovered and len(self.history) + len(self._coming) <= self._faults_min:
                break  # it comes later
            planned = self._coming.pop(0)
            if is_recovered:
                self._begin(planned)
        self._restart_ended_processes()

    @property
    def has_disturbed(self) -> bool:
        """Return whether at least the minimum number has happened."""
        return len(self.history) >= self._faults_min

    def calm(self) -> None:
        """End all disturbances that last; no other one begins."""
        self._coming.clear()
        for _, done, end in self._lasting:
            end()
            done.ended_s = time.monotonic()
        self._lasting.clear()
        if not self._stage.clocks.why_not:
            for name in (*NAMES, REDIS):
                self._set_clock(name, 0.0)
        self._restart_ended_processes()

    @property
    def is_whole(self) -> bool:
        """Return whether no process is about to end."""
        return not self._stopping

    def _is_recovered(self, now: float) -> bool:
        """Return whether an answer or a long pause followed the last disturbance."""
        return self._answered() > self._answered_at_last or now > self._last_s + _PATIENCE_S

    def _begin(self, planned: Planned) -> None:
        done = Done(planned, time.monotonic())
        self._last_s, self._answered_at_last = done.began_s, self._answered()
        self.history.append(done)
        end = self._have_happen(planned, done)
        if end is None:
            done.ended_s = time.monotonic()
        else:
            self._lasting.append((done.began_s + planned.lasts_s, done, end))

    def _have_happen(self, planned: Planned, done: Done) -> Callable[[], None] | None:
        """Return the function that ends the disturbance, if it lasts."""
        stage = self._stage
        match planned.kind:
            case "kill":
                self._kill(planned.target)
            case "kill all of a kind":
                for name in NAMES:
                    if component_of(name) == planned.target:
                        self._kill(name)
            case "restart":
                self._ask_to_stop(planned.target)
            case "freeze":
                process = stage.freeze(planned.target)
                return lambda: thaw(process)
            case "Redis frozen":
                os.kill(stage.redis.pid, signal.SIGSTOP)
                return self._thaw_redis
            case "Redis killed":
                self._thaw_redis()
                stage.redis.kill()
                stage.redis.start()
            case "Redis restarted":
                self._thaw_redis()
                stage.redis.terminate()
                stage.redis.start()
            case "connections cut":
                stage.proxy.cut(1)
            case "connections torn":
                stage.proxy.cut(0.5)
            case "network stalled" | "network slow":
                stage.proxy.delay(planned.lasts_s if planned.kind == "network stalled" else _SLOW_S)
                return lambda: stage.proxy.delay(0)
            case "connections refused":
                stage.proxy.refuse()
                return stage.proxy.accept
            case "clock of a process" | "clock of Redis":
                done.shift_s = self._set_clock(planned.target, planned.ahead_s)
        return None

    def _kill(self, name: str) -> None:
        """Kill the process by SIGKILL, and restart it at once."""
        self._stage.kill(name)
        self._stopping.pop(name, None)
        self._stage.start(name)

    def _ask_to_stop(self, name: str) -> None:
        """Send SIGTERM. Another task watches it until it has ended."""
        process = self._stage.running[name]
        if not _listens(process.pid):
            self._deaf.add(process.pid)
        process.terminate()
        self._stopping.setdefault(name, time.monotonic())

    def _restart_ended_processes(self) -> None:
        for name, process in list(self._stage.running.items()):
            code, asked_s = process.poll(), self._stopping.get(name)
            if code is None and asked_s is not None and time.monotonic() > asked_s + STOP_LIMIT_S:
                self.broken.append(f"{name} was asked to stop, and was there {STOP_LIMIT_S:.0f} s later")
                self._kill(name)
            elif code is not None:
                self._stopping.pop(name, None)
                self._note_end(name, code, process.pid, asked_s)
                self._stage.start(name)

    def _note_end(self, name: str, code: int, pid: int, asked_s: float | None) -> None:
        if asked_s is not None and (code == 0 or pid in self._deaf):
            return
        if code in EXPLAINED:
            self.self_ended.append(f"{name} ({code})")
            return
        lines = (self._stage.folder / f"{name}.log").read_text(errors="replace").splitlines()[-20:]
        output = "\n".join(line[:_SHOWN_CHARACTERS] for line in lines)
        how = "of its own accord" if asked_s is None else "when it was asked to stop"
        self.broken.append(f"{name} ended {how} with exit code {code}:\n{output}")

    def _set_clock(self, name: str, ahead_s: float) -> float:
        """Return the jump of Redis's clock into the past."""
        clocks = self._stage.clocks
        back_s = max(0.0, clocks.ahead_s.get(name, 0.0) - ahead_s) if name == REDIS else 0.0
        clocks.set(name, ahead_s)
        return back_s

    def _thaw_redis(self) -> None:
        os.kill(self._stage.redis.pid, signal.SIGCONT)


def _listens(pid: int) -> bool:
    """Return whether a process has a handler for SIGTERM: see SigCgt in proc(5)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False  # it has just ended
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), "0")
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)
