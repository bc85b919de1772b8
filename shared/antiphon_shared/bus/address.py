"""The forms of ANTIPHON_REDIS_URL: one server, several nodes of a cluster, or sentinels that know the server."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from redis.asyncio.connection import ConnectionPool, parse_url
from redis.exceptions import RedisError

from antiphon_shared.process.errors import ConfigurationError

DEFAULT_URL = "redis://localhost:6379/0"
SENTINEL_SCHEMES = ("redis+sentinel", "rediss+sentinel")
TLS_BEGINNINGS = ("rediss://", "rediss+sentinel://")

_SENTINEL_PORT = 26379
_SERVICE = re.compile(r"[A-Za-z0-9._-]{1,128}")
_DATABASE = re.compile(r"\d{1,9}")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^\s\[\]:,/?#@]+)(?::(\d{1,5}))?")
_OWN_OPTIONS = frozenset({"decode_responses", "encoding", "encoding_errors", "legacy_responses"})
"""Options that Antiphon sets itself; a URL must not change them."""
_FORMS = (
    "Use redis://USER:<PASSWORD>@HOST:PORT/DB, with several HOST:PORT separated by commas for a cluster, or "
    "redis+sentinel://USER:<PASSWORD>@HOST:PORT,HOST:PORT/SERVICE/DB for sentinels; rediss:// and rediss+sentinel:// "
    "with TLS. Percent-encode signs such as / # ? @ [ in a password."
)


@dataclass(frozen=True, slots=True)
class Address:
    """The address of Redis."""

    servers: tuple[str, ...]
    """The URL of each named server; with sentinels, one URL, whose host is the name of the service."""
    sentinels: tuple[str, ...] = ()
    service: str = ""
    """The name under which the sentinels watch the server."""

    @property
    def database(self) -> int:
        return int(parse_url(self.servers[0]).get("db") or 0)


def parse(url: str) -> Address:
    """Return the servers and sentinels in `url`. Raises ConfigurationError, which quotes no part of it.

    The credentials before the @ are for the server. The parameters `sentinel_username` and `sentinel_password` are
    for the sentinels. All other parameters are for both.
    """
    try:
        parts = urlsplit(url)
        login, at, hosts = parts.netloc.rpartition("@")
        if parts.scheme in SENTINEL_SCHEMES:
            address = _with_sentinels(parts.scheme, login + at, hosts, parts.path, parts.query)
        elif "," in hosts and parts.scheme in ("redis", "rediss"):
            rest = f"{parts.path}?{parts.query}" if parts.query else parts.path
            hosts_with_ports = [_host_and_port(host, 6379) for host in hosts.split(",")]
            address = Address(tuple(f"{parts.scheme}://{login}{at}{host}{rest}" for host in hosts_with_ports))
        else:
            address = Address((url,))
        for each in (*address.servers, *address.sentinels):
            _check_options(each)
    except ValueError as error:
        about = str(error) if isinstance(error, _Malformed) else "not an address of Redis"
        raise ConfigurationError(f"ANTIPHON_REDIS_URL: {about}.", hint=_FORMS) from None
    return address


def _check_options(url: str) -> None:
    """Build a connection, without connecting, as only the library knows its options and their values."""
    if _OWN_OPTIONS & parse_url(url).keys():
        raise _Malformed("an option after the ? would change the form of replies")
    try:
        pool = ConnectionPool.from_url(url)
        # Without driver_info, the library would read the metadata of its package.
        pool.connection_class(**{"driver_info": None, **pool.connection_kwargs})
    except (TypeError, ValueError, RedisError):
        raise _Malformed("an option after the ? is unknown, or has an invalid value") from None


def form_for(url: str, user: str, password: str) -> str:
    """Return an address of the form of `url` for another user, with placeholders for hosts and ports."""
    address, scheme = parse(url), urlsplit(url).scheme
    login = f"{user}:{quote(password, safe='')}"
    if address.sentinels:
        return f"{scheme}://{login}@HOST:PORT,HOST:PORT/{address.service}/{address.database}"
    return f"{'rediss' if scheme == 'rediss' else 'redis'}://{login}@HOST:PORT/{address.database}"


class _Malformed(ValueError):
    """An error in an address; its message quotes no part of the address."""


def _with_sentinels(scheme: str, login: str, hosts: str, path: str, query: str) -> Address:
    service, _, database = path.removeprefix("/").partition("/")
    if not service:
        raise _Malformed("the name of the service that the sentinels watch is missing")
    if not _SERVICE.fullmatch(service) or (database and not _DATABASE.fullmatch(database)):
        raise _Malformed("/SERVICE/DB is not a name and a number")
    parameters = parse_qsl(query, keep_blank_values=True)
    own = dict(parameters)
    user, password = own.get("sentinel_username", ""), own.get("sentinel_password", "")
    options = urlencode([(name, value) for name, value in parameters if not name.startswith("sentinel_")])
    suffix = f"?{options}" if options else ""
    plain = scheme.removesuffix("+sentinel")
    sentinel_login = f"{quote(user, safe='')}:{quote(password, safe='')}@" if password else ""
    sentinels = tuple(
        f"{plain}://{sentinel_login}{_host_and_port(host, _SENTINEL_PORT)}/0{suffix}"
        for host in hosts.split(",")
    )
    return Address((f"{plain}://{login}{service}/{database or 0}{suffix}",), sentinels, service)


def _host_and_port(text: str, default_port: int) -> str:
    if (match := _HOST.fullmatch(text)) is None:
        raise _Malformed("one of the hosts is not HOST:PORT")
    port = int(match[2] or default_port)
    if not 0 < port < 65_536:
        raise _Malformed("one of the ports is not a number from 1 to 65535")
    return f"{match[1]}:{port}"


def hide_credentials(url: str) -> str:
    """Return an address of Redis without user, password and options, so that it may be shown."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
