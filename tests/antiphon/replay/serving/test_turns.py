"""The order of turns, by a log that grows, or that differs."""

from typing import Any

from antiphon_shared.bus.keys import Keys

from antiphon.replay.serving.turns import PATIENCE_S, wait_for_events
from tests.clock import Clock


class Log:
    """A bus that knows of the length of one log alone; each look takes its time."""

    def __init__(self, clock: Clock, look_s: float, lengths: list[int]) -> None:
        self.keys, self.batcher = Keys(), self
        self._clock, self._look_s, self._lengths = clock, look_s, lengths

    async def submit(self, *_: Any) -> int:
        self._clock.forward(self._look_s)
        return self._lengths.pop(0) if len(self._lengths) > 1 else self._lengths[0]


async def test_a_stalled_machine_does_not_use_up_the_waiting_time(clock: Clock) -> None:
    log: Any = Log(clock, 2 * PATIENCE_S, [1, 1, 1, 2])
    assert await wait_for_events(log, "s1", 2)


async def test_a_log_that_stops_growing_is_not_waited_for(clock: Clock) -> None:
    log: Any = Log(clock, 0.2, [1, 2])
    assert not await wait_for_events(log, "s1", 3)
