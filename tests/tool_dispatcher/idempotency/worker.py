"""A process whose tasks all do the same write: `worker URL NAMESPACE FOLDER KIND TASKS [CRASH]`.

KIND is idempotent, reconcile or neither. With CRASH, before or after, the process is killed while it runs the
write, before or after its effect. It prints "ready", begins on request, and then prints the results of each task.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from antiphon_shared.process.logs import silence
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.calls import ToolError

from tests.bus.builders import a_bus
from tests.tool_dispatcher.idempotency.builders import WriteHooks, a_ledger, a_write, once, results_of
from tests.tool_dispatcher.idempotency.service import Service
from tool_dispatcher.authoring.reconcile import NO_EFFECT, TookEffect
from tool_dispatcher.idempotency.port import Claim
from tool_dispatcher.idempotency.write import Results

LEASE_S, LONG_S = 0.5, 600.0
"""The lease of a killed process, and that of live ones, which stalls must not exceed."""
RUN_S = 0.2
WRITE = a_write()


async def main(url: str, namespace: str, folder: str, kind: str, tasks: str, crash: str = "") -> None:
    silence()
    service = Service(Path(folder), is_idempotent=kind == "idempotent")

    async def run(claim: Claim) -> Results:
        service.note_run(WRITE.key)
        kill_if(crash == "before")
        await asyncio.sleep(RUN_S)
        receipt = service.take_effect(WRITE.key)
        kill_if(crash == "after")
        return results_of(receipt)

    async def answer(outcome: Any | ToolError) -> Results:
        return results_of(outcome)

    async def ask(_: Claim) -> Any:
        receipt = service.receipt(WRITE.key)
        return NO_EFFECT if receipt is None else TookEffect(receipt)

    hooks = WriteHooks(run, answer, kind == "idempotent", LONG_S, ask if kind == "reconcile" else None)
    async with a_bus(url, namespace, BusSettings()) as bus:
        ledger = a_ledger(bus, lease_s=LEASE_S if crash else LONG_S)
        say("ready")
        sys.stdin.readline()
        for results in await asyncio.gather(*(once(ledger, WRITE, hooks) for _ in range(int(tasks)))):
            say(json.dumps([result.model_dump(mode="json") for result in results]))


def kill_if(is_to_be_killed: bool) -> None:
    if is_to_be_killed:
        os.kill(os.getpid(), signal.SIGKILL)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
