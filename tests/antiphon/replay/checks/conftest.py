"""Sessions of a scripted model over a real socket, recorded by the real pipeline."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from antiphon import Antiphon
from antiphon.recording.lines import Line
from tests.antiphon.recording.recorded import closed_lines
from tests.messages_server import Scripted, serving

Record = Callable[..., Awaitable[list[Line]]]


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> Record:
    """Record the session of one query, or the last session of several.

    Whatever begins with `ANTIPHON_` is set, every other option is the queries' own.
    """

    async def recorded(
        *script: Scripted,
        tools: Any = ("examples.courses",),
        queries: Any = ("What is taught?",),
        **rest: Any,
    ) -> list[Line]:
        options = {name: value for name, value in rest.items() if not name.startswith("ANTIPHON_")}
        for name, value in (_PATIENCE | rest).items():
            if name.startswith("ANTIPHON_"):
                monkeypatch.setenv(name, str(value))
        async with serving(*script) as server:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            async with Antiphon.embedded(tools=list(tools)) as antiphon:
                for query in queries:
                    response = await antiphon.ask(query, **options)
                return await closed_lines(antiphon, response.session_id)

    return recorded


_PATIENCE = {
    "ANTIPHON_REASONING_ENGINE_BACKOFF_INITIAL_S": 0.001,
    "ANTIPHON_REASONING_ENGINE_BACKOFF_MAX_S": 0.001,
    "ANTIPHON_REASONING_ENGINE_RETRY_AFTER_MAX_S": 0.01,
}
