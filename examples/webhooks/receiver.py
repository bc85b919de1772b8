"""Another party's service: it takes signed events, each of them once, and keeps a ledger.

WEBHOOK_SECRET=... python -m examples.webhooks.receiver --port 0    prints its address on the first line

POST /events    200 {"key", "is_duplicate"}; 401 not signed as it should be; 422 the key is another event's
GET  /ledger    {"effects": [{"key", "event", "deliveries"}], "refused"}
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any

from ..local_http import Reply, Request, serve_until_ended
from .settings import configured
from .signature import KEY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, fault_in

KEYS_MAX = 100_000
"""The oldest keys are forgotten first; by then their timestamps are refused anyway."""


@dataclass
class Effect:
    """An event that was taken."""

    key: str
    event: Any
    deliveries: int = 1


class Receiver:
    """The service; `reply` answers one request, from any thread."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock
        self._lock = Lock()
        self._refused = 0
        self.effects: dict[str, Effect] = {}

    def reply(self, request: Request) -> Reply:
        match request.method, request.path:
            case "POST", "/events":
                with self._lock:
                    reply = self._received(request)
                    self._refused += reply.status != 200
                return reply
            case "GET", "/ledger":
                with self._lock:
                    effects = [asdict(effect) for effect in self.effects.values()]
                    return Reply(200, {"effects": effects, "refused": self._refused})
        return Reply(404, {"error": f"There is no {request.method} {request.path} here."})

    def _received(self, request: Request) -> Reply:
        key, timestamp, signature = (
            request.headers.get(name.lower(), "") for name in (KEY_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER)
        )
        if not key:
            return Reply(400, {"error": f"{KEY_HEADER} is missing."})
        if fault := fault_in(self._secret, timestamp, key, request.body, signature, self._clock()):
            return Reply(401, {"error": fault})
        try:
            event = json.loads(request.body)
        except ValueError:
            return Reply(400, {"error": "The body is not JSON."})
        if (known := self.effects.get(key)) is None:
            return self._take(key, event)
        known.deliveries += 1
        if known.event != event:
            return Reply(422, {"error": f"{KEY_HEADER} was used for another event."})
        return Reply(200, {"key": key, "is_duplicate": True})

    def _take(self, key: str, event: Any) -> Reply:
        self.effects[key] = Effect(key, event)
        if len(self.effects) > KEYS_MAX:
            del self.effects[next(iter(self.effects))]
        return Reply(200, {"key": key, "is_duplicate": False})


def main() -> None:
    parser = argparse.ArgumentParser(description="Takes signed events, each of them once.")
    parser.add_argument("--port", type=int, default=8766, help="0 takes a free one")
    arguments = parser.parse_args()
    serve_until_ended(Receiver(configured().secret.get_secret_value()).reply, arguments.port)


if __name__ == "__main__":
    main()
