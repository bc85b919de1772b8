"""The permissions in Redis, as an ACL file. Pure.

A rule becomes a selector (Redis 7.0 and later), so that a command is allowed only on the rule's keys. EVALSHA
requires that the script's keys are readable and writable; this alone allows no other command.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256

from antiphon_shared.bus.keys import Keys
from antiphon_shared.events import COMPONENTS

from antiphon.redis_rules import User, rules_of

_CONNECT = ("hello", "ping", "info", "time")
_READER = ("client|id", "client|unblock")
_SENTINEL = ("role",)
_CLUSTER = ("cluster|slots", "command", "asking")
_RUN = ("eval", "evalsha")


def acl_file(
    keys: Keys,
    passwords: Mapping[User, str | None],
    *,
    database: int = 0,
    is_cluster: bool = False,
    has_sentinels: bool = False,
) -> str:
    """Return the file for `aclfile`: the users in `passwords`, where None means no password.

    The default user is disabled. A user may select a database only if `database` is not 0, read a cluster's layout
    only with `is_cluster`, and ask whether a server is the master only with `has_sentinels`.
    """
    extra = ("select",) * (database != 0) + _CLUSTER * is_cluster + _SENTINEL * has_sentinels
    lines = ["user default off resetchannels -@all"]
    for user, password in passwords.items():
        secret = "nopass" if password is None else f"#{sha256(password.encode()).hexdigest()}"
        lines.append(" ".join([f"user {user} on {secret} resetchannels", *_rights(user, keys, extra)]))
    return "\n".join(lines) + "\n"


def _rights(user: User, keys: Keys, extra: tuple[str, ...]) -> Iterator[str]:
    free = [*_CONNECT, *(_READER if user in COMPONENTS else ()), *extra]
    free += ["wait"] * (user == "tool_dispatcher")  # for ANTIPHON_BUS_WAIT_REPLICAS
    yield " ".join(["-@all", *(f"+{command}" for command in free)])
    rules = rules_of(user, keys.namespace)
    for rule in rules:
        sign = "~" if rule.access == "RW" else f"%{rule.access}~"
        if rule.commands:
            yield _selector(rule.commands, sign, rule.keys, keys)
    if user != "client":
        scripted = tuple(dict.fromkeys(key for rule in rules for key in rule.keys))
        yield _selector(_RUN, "~", scripted, keys)


def _selector(commands: tuple[str, ...], sign: str, patterns: tuple[str, ...], keys: Keys) -> str:
    words = [f"+{command}" for command in commands]
    words += [sign + each for pattern in patterns for each in _everywhere(pattern, keys)]
    return f"({' '.join(words)})"


def _everywhere(pattern: str, keys: Keys) -> Iterator[str]:
    """Yield the pattern of partition 0 for all partitions, by digits, as a pattern for each would slow Redis down."""
    prefix = keys.prefix(0)
    if not pattern.startswith(prefix) or keys.partitions == 1:
        yield pattern
        return
    for digits in range(1, len(str(keys.partitions - 1)) + 1):
        yield f"{keys.namespace}:{{{'[0-9]' * digits}}}:{pattern.removeprefix(prefix)}"
