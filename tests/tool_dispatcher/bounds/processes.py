"""Several dispatcher processes at once, for the tests of what they share."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]


@asynccontextmanager
async def a_process(mode: str, url: str, namespace: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"{__package__}.process",
        mode,
        url,
        namespace,
        cwd=ROOT,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def run_several(mode: str, url: str, namespace: str, count: int = 4) -> None:
    """Run so many processes at once, to their end."""
    async with AsyncExitStack() as stack:
        processes = [await stack.enter_async_context(a_process(mode, url, namespace)) for _ in range(count)]
        for _, said in await asyncio.wait_for(asyncio.gather(*(p.communicate() for p in processes)), 120):
            assert said == b"", said.decode()
        assert [process.returncode for process in processes] == [0] * count
