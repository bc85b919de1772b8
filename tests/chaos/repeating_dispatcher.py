"""A process that takes one session through its rounds.

What a coordinator would commit stands in Redis after each round, so that the next process goes on where this one was
killed. KIND is keyed (the service honours the key) or plain.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from antiphon_shared import faults
from antiphon_shared.faults.plan import read_faults
from antiphon_shared.process.logs import silence
from antiphon_shared.process.settings import BusSettings

from tests.bus.builders import a_bus
from tests.tool_dispatcher.builders import Dispatcher, a_tool
from tests.tool_dispatcher.idempotency.service import Service
from tests.tool_dispatcher.repeating import Rounds, asks
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import ToolFailed
from tool_dispatcher.authoring.tool import Tool

LEASE_S = 0.4
A, B = {"to": "a"}, {"to": "b"}
SCENARIOS: dict[str, tuple[list[Any], ...]] = {
    "twice": ([asks("c1", "mail", A)], [asks("c2", "mail", A)]),
    "unknown": ([asks("c1", "vague", A)], [asks("c2", "vague", A)]),
    "between": ([asks("c1", "mail", A)], [asks("c2", "mail", B)], [asks("c3", "mail", A)]),
    "again": ([asks("c1", "mail", A)], [asks("r1", "mail", A, repeat_of="c1")], [asks("c2", "mail", A)]),
    "relative": ([asks("c1", "press")], [asks("c2", "press"), asks("c3", "press")]),
}


def run(*arguments: str) -> None:
    """Run the process: URL, namespace, folder, scenario, kind, the faults to inject, and their only round."""
    asyncio.run(main(*arguments))


async def main(
    url: str, namespace: str, folder: str, scenario: str, kind: str, plan: str = "", round: str = ""
) -> None:
    silence()
    service = Service(Path(folder), is_idempotent=kind == "keyed")
    async with a_bus(url, namespace, BusSettings(lease_s=LEASE_S)) as bus:
        session = Rounds(Dispatcher(_tools(service, kind == "keyed"), bus))
        done = f"{namespace}:done"
        session.round = int(await bus.client.execute_command("LLEN", done))
        for calls in SCENARIOS[scenario][session.round :]:
            session.round += 1
            if round in ("", str(session.round)):
                faults.arm(read_faults(plan))
            results = await session.again(*calls)
            reported = [_reported(one) for one in results]
            await bus.client.execute_command("RPUSH", done, json.dumps(reported))


def _tools(service: Service, is_idempotent: bool) -> list[Tool]:
    def take_effect(arguments: dict[str, Any], context: ToolContext) -> int:
        return service.take_effect(context.idempotency_key)

    def vaguely(arguments: dict[str, Any], context: ToolContext) -> int:
        service.take_effect(context.idempotency_key)
        raise ToolFailed("outcome_unknown", "The line went dead.")

    options: Any = {"idempotent": is_idempotent, "retry": 1}
    return [
        a_tool("mail", take_effect, "write", **options),
        a_tool("vague", vaguely, "write", **options),
        a_tool("press", take_effect, "write", repeat="run", error_propagation="partial-success", **options),
    ]


def _reported(result: Any) -> str:
    """Return `ok`, `repeated` or the error type."""
    return result.error.error_type if result.error else "repeated" if result.repeated else "ok"
