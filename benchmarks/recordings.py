"""`python -m benchmarks.recordings`: how fast recordings are written, read and imported, on one core.

The sessions are those of the offline model over the example courses, and one of many rounds with large results.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.collector import freeze_program_objects
from antiphon_shared.process.settings import BusSettings
from rich.console import Console
from rich.table import Table

from antiphon.recording.export import export_session
from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.import_session import import_session
from antiphon.recording.lines import End, EventLine, Header, Line
from antiphon.recording.settings import own_redaction
from antiphon.recording.side_by_side import each, side_by_side
from antiphon.replay.redacted_lines import make_consistent
from tests.antiphon.recording.large import large_session
from tests.antiphon.recording.recorded import recorded
from tests.redis_server import running

Row = tuple[str, str, str, str]
"""The measure, per second of this process's CPU, per second of wall time, the target for the former."""
_TARGET = "> 20 MB/s"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recordings", description=__doc__)
    parser.add_argument(
        "--sessions", type=int, default=300, help="number of small sessions (default: %(default)s)"
    )
    parser.add_argument(
        "--megabytes", type=int, default=40, help="size of the large session (default: %(default)s)"
    )
    arguments = parser.parse_args()
    show(measure(arguments.sessions, arguments.megabytes))


def measure(sessions: int = 300, megabytes: int = 40) -> list[Row]:
    """Measure small sessions, then a large one."""
    with tempfile.TemporaryDirectory() as folder, running() as server:
        small = _small(Path(folder, "small"), sessions)
        large = _large(Path(folder, "large"), megabytes)
        freeze_program_objects()  # as `antiphon recording` does
        rows = asyncio.run(_there_and_back(server.url, "small sessions", small, Path(folder)))
        return rows + asyncio.run(_there_and_back(server.url, "one large session", large, Path(folder)))


async def _there_and_back(url: str, name: str, paths: list[Path], folder: Path) -> list[Row]:
    """Import, export, and export compressed, of all the files."""
    size = sum(path.stat().st_size for path in paths)
    bus = Bus(Connections(url), Keys(name.replace(" ", "-")), BusSettings())
    await bus.open()
    ids: list[str] = []

    async def put_all_back() -> None:
        async for _, one in side_by_side(each(paths), lambda path: import_session(bus, read_lines(path))):
            ids.append(one.result())

    async def export_all(to: str, *options: Any) -> None:
        async for _, one in side_by_side(
            each(ids), lambda id: export_session(bus, id, folder / to, *options)
        ):
            one.result()

    try:
        seconds = {
            "read": await _timed(lambda: asyncio.to_thread(_read, paths)),
            "import": await _timed(put_all_back),
            "export": await _timed(lambda: export_all("plain")),
            "export, redacted": await _timed(
                lambda: export_all("redacted", own_redaction(), False, make_consistent)
            ),
            "export, compressed": await _timed(lambda: export_all("packed", None, True)),
        }
    finally:
        await bus.close()
    return [
        (f"{what}: {name}", f"{size / 1e6 / cpu_s:.0f} MB/s", f"{size / 1e6 / wall_s:.0f} MB/s", _TARGET)
        for what, (cpu_s, wall_s) in seconds.items()
    ]


def _small(folder: Path, count: int) -> list[Path]:
    """Return the same session under as many names."""
    lines = asyncio.run(recorded())
    folder.mkdir()
    paths = [folder / f"{n}.jsonl" for n in range(count)]
    for n, path in enumerate(paths):
        write_lines(path, _renamed(lines, f"s{n}"))
    return paths


def _large(folder: Path, megabytes: int) -> list[Path]:
    folder.mkdir()
    path = folder / "large.jsonl"
    write_lines(path, large_session(megabytes * 1_000_000))
    return [path]


def _renamed(lines: Iterable[Line], session_id: str) -> Iterator[Line]:
    for line in lines:
        match line:
            case Header():
                yield line.model_copy(update={"session_id": session_id})
            case EventLine(n=n, entry=entry, event=event):
                yield EventLine(n, entry, event.model_copy(update={"subject": session_id}))
            case _:
                yield line


def _read(paths: Iterable[Path]) -> None:
    for path in paths:
        assert any(isinstance(line, End) for line in read_lines(path))


async def _timed(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Return the seconds of CPU and of wall time."""
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    await work()
    return time.process_time() - cpu_s, time.perf_counter() - wall_s


def show(rows: Iterable[Row]) -> None:
    table = Table("measured", "per core", "on the wall", "target")
    for row in rows:
        table.add_row(*row)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
