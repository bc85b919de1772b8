"""A small HTTP server for the services that the examples call.

    with serving(service.reply) as url:
        ...

A service is one function from a Request to a Reply; each request is answered in a thread of its own.
"""

import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

BODY_BYTES_MAX = 1_000_000
_SILENCE_S_MAX = 30.0
_ENDING = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Request:
    """A request, its body as received. Names of headers are in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True)
class Reply:
    """A reply: a status, and the value to send as JSON."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


Service = Callable[[Request], Reply]


@contextmanager
def serving(service: Service, port: int = 0) -> Iterator[str]:
    """Serve on this machine while the block runs; yield the address. Port 0 takes a free one."""
    server = _Server(("127.0.0.1", port), _handler_of(service))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serve_until_ended(service: Service, port: int) -> None:
    """Print the address on the first line, and serve until SIGTERM or Ctrl-C, as the only task of a process."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    with serving(service, port) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        signal.sigwait(_ENDING)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; show any other error as usual."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def _handler_of(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _SILENCE_S_MAX

        def answer(self) -> None:
            length = self.headers.get("content-length", "0")
            if not length.isdecimal() or int(length) > BODY_BYTES_MAX:
                return self.send(Reply(413, {"error": f"A body has {BODY_BYTES_MAX} bytes at most."}))
            return self.send(service(self.request_with(self.rfile.read(int(length)))))

        def request_with(self, body: bytes) -> Request:
            address = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            return Request(self.command, address.path, dict(parse_qsl(address.query)), headers, body)

        def send(self, reply: Reply) -> None:
            content = json.dumps(reply.body).encode()
            self.send_response(reply.status)
            fixed = {"content-type": "application/json", "content-length": str(len(content))}
            for name, value in {**fixed, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = answer  # noqa: N815  # the standard library calls them by these names

        def log_message(self, *_: Any) -> None:
            """Log nothing: a service keeps its own ledger."""

    return Handler
