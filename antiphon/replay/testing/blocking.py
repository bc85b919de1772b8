"""Coroutines in tests that are plain functions, and in asynchronous ones."""

import asyncio
import contextvars
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def waited_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return a coroutine's result, run on its own loop; in its own thread where a loop is running already.

    So one way to wait works with every runner of async tests; the test's own loop is blocked meanwhile.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: context.run(asyncio.run, coroutine)).result()
