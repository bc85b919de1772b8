"""`python -m antiphon.recording.serving NAME PLAN`: one component of a rerun, in a process of its own.

PLAN is a file that whoever directs the rerun has written; see `Plan`.
"""

import asyncio
import signal
import sys
from pathlib import Path
from typing import cast

from antiphon.recording.serving.parts import bus_settings, part_of
from antiphon.recording.serving.plan import Plan
from shared import logs
from shared.bus.connection import Connections
from shared.bus.keys import Keys
from shared.bus.redis_bus import Bus
from shared.events import Component
from shared.runner import run_service

GRACE_S = 0.2
"""What is never ended need not be waited for."""


def main() -> None:
    """Run until SIGTERM."""
    name, path = sys.argv[1:3]
    logs.configure("critical", name)  # what failed then fails again, and is no news
    plan = Plan.model_validate_json(Path(path).read_bytes())
    asyncio.run(_serve(cast(Component, name), plan))


async def _serve(name: Component, plan: Plan) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    bus = Bus(Connections(plan.redis_url), Keys(), bus_settings())
    await bus.open()
    try:
        await run_service(bus, part_of(name, bus, plan.scores(), plan.model_url), stop, GRACE_S)
    finally:
        await bus.close()


if __name__ == "__main__":
    main()
