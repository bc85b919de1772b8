"""The Lua scripts, each in its own file in this folder."""

from dataclasses import dataclass
from hashlib import sha1
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Script:
    """A script's text, and the hash by which Redis runs it again."""

    text: str
    sha: str


def script_of(module: str, name: str) -> Script:
    """Return the script `name`.lua in the folder of a module."""
    return _script_from(_text(module, name))


def _text(module: str, name: str) -> str:
    return files(module.rpartition(".")[0]).joinpath(f"{name}.lua").read_text()


def _script_from(text: str) -> Script:
    return Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())


def _script(name: str) -> Script:
    return script_of(__name__, name)


def _appending(name: str) -> Script:
    """Return the script, preceded by the functions of append.lua."""
    return _script_from(_text(__name__, "append") + "\n" + _text(__name__, name))


COMMIT = _appending("commit")
PUBLISH = _appending("publish")
ARRIVE = _appending("arrive")
ADMIT = _appending("admit")
DUE = _appending("due")
RECLAIM = _script("reclaim")
MISSED = _script("missed")
RENEW = _script("renew")
REJECT = _appending("reject")
RENEW_QUEUE = _script("renew_queue")
RETAIN = _script("retain")
SWEEP = _script("sweep")
LEAVE = _script("leave")
REQUEUE = _appending("requeue")
HEARTBEAT = _script("heartbeat")
BREAKERS = _script("breakers")
EXPIRING = _script("expiring")
