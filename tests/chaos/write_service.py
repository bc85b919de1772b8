"""The service that writes go to, as a process of its own that is never killed: `write_service FILE HOLD_S LATE_S`.

Prints its port on the first line. FILE holds its records. It answers a request about HOLD_S after
its arrival, and makes the effect half-way. Some effects it makes only after LATE_S: others may have taken over by then.

    POST /effects  {"run", "key", "what", "fence", "honours_key"}  ->  {"receipt"}, null when it is refused
    POST /came-of  {"key", "fence"}                                ->  {"receipt"}, null: there is none, and
                                                                       a request with a lower fence is refused
"""

import json
import sys
import time
import zlib
from contextlib import suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.chaos.write_effects import ServiceRecords

LATE_ONE_IN = 24
_LIMIT_S = 30.0


class Service(ThreadingHTTPServer):
    """A server with a thread for each request, so that a delayed request delays no other."""

    request_queue_size = 128

    def __init__(self, records: ServiceRecords, hold_s: float, late_s: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.records, self.hold_s, self.late_s = records, hold_s, late_s

    def take_effect(self, run: str, key: str, what: str, fence: int, honours_key: bool) -> int | None:
        self.records.note(run, key, "held")
        is_late = zlib.crc32(run.encode()) % LATE_ONE_IN == 0
        time.sleep(self.late_s if is_late else self.hold_s / 2)
        receipt = self.records.take_effect(key, what, fence, honours_key)
        time.sleep(self.hold_s / 2)
        self.records.note(run, key, "answered")
        return receipt


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        document = json.loads(self.rfile.read(int(self.headers["content-length"])))
        receipt = (
            self.server.take_effect(**document)
            if self.path == "/effects"
            else self.server.records.effect_of(document["key"], document["fence"])
        )
        body = json.dumps({"receipt": receipt}).encode()
        with suppress(ConnectionError):  # the caller has been killed
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the service's records have the requests."""


def receipt_from(port: int, path: str, **fields: Any) -> int | None:
    """Return the service's answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_LIMIT_S)
    try:
        connection.request("POST", path, json.dumps(fields))
        receipt: int | None = json.loads(connection.getresponse().read())["receipt"]
        return receipt
    finally:
        connection.close()


if __name__ == "__main__":
    _, file, *times_s = sys.argv
    service = Service(ServiceRecords(Path(file)), *map(float, times_s))
    sys.stdout.write(f"{service.server_address[1]}\n")
    sys.stdout.flush()
    service.serve_forever()
