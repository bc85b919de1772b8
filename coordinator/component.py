"""Wiring: the only place of this room that reads settings and builds clients."""

import os
import socket
from secrets import token_hex

from coordinator.handlers import Coordinator
from coordinator.settings import CoordinatorSettings
from shared.bus.intake import Intake
from shared.bus.redis_bus import Bus
from shared.service import Service
from shared.settings import load


def build(bus: Bus) -> Service:
    """The coordinator on `bus`: the decisions, and the door that lets queries in."""
    settings = load(CoordinatorSettings)
    coordinator = Coordinator(
        settings.limits, settings.catalogue_wait_s, bus.current_catalogue, bus.catalogue
    )
    intake = Intake(bus, f"{socket.gethostname()}-{os.getpid()}-{token_hex(3)}", settings.intake)
    return Service("coordinator", coordinator.handlers, settings.concurrency, background=(intake.run,))
