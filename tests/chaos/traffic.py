"""Sessions that keep coming while processes are killed."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.flows.processes import Processes

OPEN_MAX = 12
_LOOK_EVERY_S = 0.02


class Traffic:
    """Submits a session whenever fewer than `open_max` are open, from a thread of its own."""

    def __init__(self, five: Processes, prefix: str, open_max: int = OPEN_MAX) -> None:
        self.session_ids: list[str] = []
        self._five, self._prefix, self._open_max = five, prefix, open_max
        self._answered_before = five.response_count()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_coming, name="traffic")

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Run for the length of a block."""
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()

    @property
    def is_answered(self) -> bool:
        return self._open <= 0

    @property
    def _open(self) -> int:
        return len(self.session_ids) - (self._five.response_count() - self._answered_before)

    def _keep_coming(self) -> None:
        while not self._over.wait(_LOOK_EVERY_S):
            for _ in range(self._open_max - self._open):
                session_id = f"{self._prefix}-{len(self.session_ids)}"
                self._five.submit(f"What of {session_id}?", session_id=session_id)
                self.session_ids.append(session_id)
