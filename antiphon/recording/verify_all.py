"""Hold many recordings against today's code, in one process or in several."""

import multiprocessing
import zlib
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.logs import silence
from antiphon_shared.redaction.secret_values import secret_values

from antiphon.recording.reports.outcome import Outcome
from antiphon.recording.verify import verify

UNREADABLE = (UnreadableEvent, OSError, EOFError, zlib.error)
"""What reading a recording raises: not one, not there, or cut off within its compression."""


def verify_all(
    paths: Sequence[Path], jobs: int = 1, only: Collection[Component] = COMPONENTS
) -> Iterator[Outcome]:
    """What came of each recording, in the order of `paths`.

    Whoever stops asking stops the work; what other processes have in hand by then, they end first.
    """
    held = partial(outcome, only=only)
    if jobs == 1 or len(paths) < 2:
        yield from map(held, paths)
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])  # what takes a second to import is imported once for all
    with ProcessPoolExecutor(min(jobs, len(paths)), mp_context=context, initializer=_begin) as pool:
        try:
            yield from pool.map(held, paths)
        finally:
            pool.shutdown(cancel_futures=True)


def outcome(path: Path, only: Collection[Component] = COMPONENTS) -> Outcome:
    """What came of one recording; never raises for what stands in it."""
    began_s = monotonic_s()
    try:
        report = verify(path, only)
    except UNREADABLE as error:
        return Outcome(shown(path), error=explained(error, path), duration_s=monotonic_s() - began_s)
    return Outcome(shown(path), report, duration_s=monotonic_s() - began_s)


def explained(error: Exception, path: Path) -> str:
    """Why a recording cannot be read, without its path, which stands before it."""
    if isinstance(error, UnreadableEvent):
        return str(error).removeprefix(f"{path}").lstrip(",: ")
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    return f"{error}".rstrip(".") + "."


def shown(path: Path) -> str:
    """A path as text; what is no text in it is replaced."""
    return str(path).encode("utf-8", "replace").decode()


def _begin() -> None:
    silence("error", secret_values())
