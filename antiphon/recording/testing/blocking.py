"""Coroutines for tests that are plain functions, and for those that are not."""

import asyncio
import contextvars
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def waited_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """What it returns, run on a loop of its own, in a thread of its own where a loop is running already.

    Whatever runner a suite has for async tests, there is one way to wait; the test's own loop stands still meanwhile.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: context.run(asyncio.run, coroutine)).result()
