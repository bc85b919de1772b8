"""A guard that limits sockets to this machine while a block runs."""

import contextlib
import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Any

_LOCAL_NAMES = {"", "localhost", "localhost.localdomain", "ip6-localhost"}


class NetworkDenied(ConnectionError):
    """A test tried to reach another machine."""


@contextlib.contextmanager
def denied() -> Iterator[list[str]]:
    """Allow only loopback addresses and Unix sockets, and raise NetworkDenied otherwise; yield the denied hosts.

    It covers all threads of the process, but only Python's sockets, and no child processes.
    """
    attempts: list[str] = []

    def check(host: object) -> None:
        if not _is_local(host):
            attempts.append(str(host))
            raise NetworkDenied(f"network denied: {host} is not the local machine; see docs/testing.md.")

    def guarded(original: Callable[..., Any]) -> Callable[..., Any]:
        def connect(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                check(address[0])
            return original(self, address)

        return connect

    def sendto(self: socket.socket, data: object, *rest: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            check(rest[-1][0])
        return before["sendto"](self, data, *rest)

    def getaddrinfo(host: Any, *rest: Any, **how: Any) -> Any:
        check(host)
        return resolve(host, *rest, **how)

    resolve, own = socket.getaddrinfo, vars(socket.socket).copy()
    before = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex", "sendto")}
    replaced = {
        "connect": guarded(before["connect"]),
        "connect_ex": guarded(before["connect_ex"]),
        "sendto": sendto,
    }
    try:
        for name, function in replaced.items():
            setattr(socket.socket, name, function)
        socket.getaddrinfo = getaddrinfo
        yield attempts
    finally:
        socket.getaddrinfo = resolve
        for name in replaced:
            delattr(socket.socket, name)  # restores the inherited attribute
            if name in own:
                setattr(socket.socket, name, own[name])


def _is_local(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if host is None or host in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
