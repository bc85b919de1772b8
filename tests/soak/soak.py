"""The course of a soak, from its beginning to its report."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from antiphon_shared.process import logs

from tests.soak.checks import after_the_calm, flat, no_orphans, redis_is_small
from tests.soak.disturbances import WARM_SHARE, Disturber, plan
from tests.soak.load import Load
from tests.soak.report import Report
from tests.soak.samples import Samples
from tests.soak.stage import Stage, stage

_STEP_S = 0.05
_SAMPLE_EVERY_S = 2.0
_SETTLE_LIMIT_S = 120.0
"""The limit on the wait for all answers after the last disturbance."""
_RETENTION_SLACK_S = 90.0
"""Sessions leave their sets within a minute of the end of their retention."""


@dataclass(frozen=True, slots=True)
class Order:
    """The options of a soak."""

    length_s: float
    seed: int
    sessions: int = 24
    """The number in flight at any time."""
    retention_s: float = 120.0
    faults_min: int = 0
    """The soak continues until this number of disturbances, also on a slow machine."""
    waits_for_retention: bool = True
    command: str = ""


def soak(order: Order, report_progress: Callable[[str], None], report_every_s: float = 10.0) -> Report:
    """Run a soak. `report_progress` gets a line at intervals."""
    logs.silence("error")
    with contextlib.ExitStack() as stack:
        ten = stack.enter_context(stage(order.seed, order.retention_s))
        load = stack.enter_context(Load(ten, order.sessions, order.seed).running())
        planned = plan(order.seed, order.length_s, has_clocks=not ten.clocks.why_not)
        disturber, samples = Disturber(ten, planned, load.answered, order.faults_min), Samples(ten)
        stack.callback(samples.close)
        began_s = time.monotonic()
        watch = _Watch(ten, load, disturber, samples, report_progress, report_every_s)
        watch.until(lambda: time.monotonic() >= began_s + order.length_s, order.length_s)
        watch.until(lambda: disturber.has_disturbed, _SETTLE_LIMIT_S)
        load.stop_asking()
        disturber.calm()
        watch.until(load.is_settled, _SETTLE_LIMIT_S)
        watch.until(
            lambda: disturber.is_whole and not any(ten.left_over(with_dead=False).values()), _SETTLE_LIMIT_S
        )
        report = _report(order, ten, load, disturber)
        report.promises += after_the_calm(ten, load, disturber.history, disturber.broken)
        report.promises.append(no_orphans(ten, load.asked))
        memory, report.trends = flat(samples, began_s + order.length_s * WARM_SHARE, began_s + order.length_s)
        report.promises.append(memory)
        if order.waits_for_retention:
            watch.until(lambda: not no_orphans(ten, ()).broken, order.retention_s + _RETENTION_SLACK_S)
            report.promises += [no_orphans(ten, ()), redis_is_small(ten, samples)]
        return report


class _Watch:
    """A wait during which the disturber acts, samples are taken, and progress is reported."""

    def __init__(
        self,
        ten: Stage,
        load: Load,
        disturber: Disturber,
        samples: Samples,
        report_progress: Callable[[str], None],
        report_every_s: float,
    ) -> None:
        self._ten, self._load, self._disturber, self._samples = ten, load, disturber, samples
        self._report_progress, self._report_every_s = report_progress, report_every_s
        self._began_s = self._reported_s = time.monotonic()
        self._sampled_s = 0.0

    def until(self, condition: Callable[[], bool], limit_s: float) -> None:
        """Wait until a condition holds, or for a time; the checks decide whether it held."""
        ends_s = time.monotonic() + limit_s
        while not condition() and time.monotonic() < ends_s:
            self._disturber.step()
            now = time.monotonic()
            if now >= self._sampled_s + _SAMPLE_EVERY_S:
                self._samples.take()
                self._sampled_s = now
            if now >= self._reported_s + self._report_every_s:
                self._reported_s = now
                self._report_progress(self._line(now - self._began_s))
            time.sleep(_STEP_S)

    def _line(self, since_s: float) -> str:
        return (
            f"{since_s:6.0f} s  answered {self._load.answered()}, in flight {len(self._load.in_flight())}, "
            f"faults {len(self._disturber.history)}, memory {self._samples.now_mb():.0f} MB"
        )


def _report(order: Order, ten: Stage, load: Load, disturber: Disturber) -> Report:
    answers = [one.answers[0] for one in load.asked.values() if one.answers]
    return Report(
        command=order.command,
        minutes=order.length_s / 60,
        seed=order.seed,
        faults=Counter(done.planned.kind for done in disturber.history),
        statuses=Counter(f"{answer.status} ({answer.termination_reason})" for answer in answers),
        sessions=sum(1 for one in load.asked.values() if one.accepted_s),
        resubmitted=load.resubmitted,
        connections=ten.proxy.opened,
        self_ended=disturber.self_ended,
        notes=[ten.clocks.why_not] if ten.clocks.why_not else [],
    )
