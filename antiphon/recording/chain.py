"""The chain of a recording: each line contains a hash of itself and the hash of the line before. Pure.

    {"line":"event","n":3, ... ,"previous":"5f1d0c2ab1e0f6a7","check":"90ab33d1c04e7718"}

`check` is the hash of the line's bytes up to `,"previous"`, and `previous` is the `check` of the line before. So a
reader finds changed bytes, and lines that were lost, doubled or moved. The chain detects accidents, not forgery, as a
forger can compute a new chain. A line's hash does not depend on the lines before, so that a change of one line affects
only that line and the next. Line ends are not hashed.
"""

import re
from hashlib import sha256

from antiphon_shared.process.errors import UnreadableEvent

FIRST = b"0" * 16
"""The `previous` of the first line."""
SINCE = 2
"""The format version that introduced the chain."""
_FORM = b',"previous":"%s","check":"%s"}'
_BYTES = len(_FORM % (FIRST, FIRST))
_BOUND = re.compile(re.escape(_FORM).replace(b"%s", rb"([0-9a-f]{16})"))
_HINT = "`antiphon recording check` shows the part that can be trusted."


class Chained:
    """The writer of a chain, which binds the lines of a recording in order."""

    def __init__(self) -> None:
        self._previous = FIRST

    def bind(self, line: bytes) -> bytes:
        """Return the line, a JSON object, bound into the chain."""
        check = check_of(memoryview(line)[:-1])
        bound = line[:-1] + _FORM % (self._previous, check)
        self._previous = check
        return bound


class Chain:
    """The reader of a chain, which checks the lines of a recording in order."""

    def __init__(self) -> None:
        self._previous = FIRST

    def unbound(self, raw: bytes) -> bytes:
        """Return the line without its link. Raises UnreadableEvent if the chain is broken there."""
        link = link_of(raw)
        if link is None:
            raise _broken("this line does not end with a `check`")
        if not link.is_intact:
            raise _broken("this line was changed")
        if link.previous != self._previous:
            raise _broken("this line does not follow the previous line: a line was lost, added or moved")
        self._previous = link.check
        return link.line


class Link:
    """A line and its link in the chain."""

    __slots__ = ("check", "is_intact", "line", "previous")

    def __init__(self, raw: bytes, previous: bytes, check: bytes) -> None:
        self.previous, self.check = previous, check
        content = raw[:-_BYTES]
        self.is_intact = check == check_of(content)
        """Whether the line matches its hash."""
        self.line = content + b"}"


def link_of(raw: bytes) -> Link | None:
    """Return a line's link in the chain, or None."""
    match = _BOUND.fullmatch(raw, len(raw) - _BYTES) if len(raw) > _BYTES else None
    return None if match is None else Link(raw, match[1], match[2])


def check_of(content: bytes | memoryview) -> bytes:
    """Return the hash of a line's bytes: the first 16 hexadecimal digits of its SHA-256."""
    return sha256(content).hexdigest()[:16].encode()


def _broken(what: str) -> UnreadableEvent:
    return UnreadableEvent(f"the chain is broken: {what}.", hint=_HINT)
