"""Several dispatcher processes at once, off the fork server, for the tests of their shared limits."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.flows.starting import ROOT, Forked, Program

LIMIT_S = 120.0


@dataclass(frozen=True)
class Dispatching:
    """A process and its output files."""

    process: Forked
    output: Path
    errors: Path


@asynccontextmanager
async def a_process(mode: str, url: str, namespace: str) -> AsyncIterator[Dispatching]:
    with tempfile.TemporaryDirectory(prefix="antiphon-bounds-") as folder:
        output, errors = Path(folder) / "output", Path(folder) / "errors"
        output.touch()
        errors.touch()
        module, arguments = f"{__package__}.process", (mode, url, namespace)
        process = Forked(Program(module, {**os.environ}, ROOT, output, errors, arguments=arguments))
        try:
            yield Dispatching(process, output, errors)
        finally:
            process.kill()
            process.wait(LIMIT_S)


async def run_several(mode: str, url: str, namespace: str, count: int = 4) -> None:
    """Run a number of processes concurrently, to their end."""
    async with AsyncExitStack() as stack:
        several = [await stack.enter_async_context(a_process(mode, url, namespace)) for _ in range(count)]
        codes = [await asyncio.to_thread(one.process.wait, LIMIT_S) for one in several]
        assert [one.errors.read_text() for one in several] == [""] * count
        assert codes == [0] * count
