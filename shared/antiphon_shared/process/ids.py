"""Ids, which are drawn once where data enters the system, and derived after that.

Derived ids make a second run harmless, as the same input gives the same outputs, byte for byte.
"""

import os
import socket
import time
import zlib
from functools import lru_cache
from hashlib import blake2b, sha1
from secrets import token_hex, token_urlsafe
from uuid import UUID

from antiphon_shared.process.stream_ids import milliseconds_of

_VERSION_5, _VERSION_7 = 0x5 << 76, 0x7 << 76
_VARIANT = 0b10 << 62
_WITHOUT_VERSION = ~(0xF << 76 | 0b11 << 62)
CHILD = "~"
"""The separator between the id of a root session and the part that distinguishes its children."""
_IDS_CACHED_MAX = 4_096
"""Bound on cached ids, as the decision, the commit and every key of a step compute the same ones."""


def new_id() -> UUID:
    """Return a fresh UUIDv7 (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then 74 random bits."""
    return _uuid7(time.time_ns() // 1_000_000, os.urandom(10))


def random_fraction() -> float:
    """Return a random number from 0 to below 1, for the jitter of a pause."""
    return (new_id().int & 0xFFFFF) / 0x100000


def new_consumer_name() -> str:
    """Return `host-pid-random`: the name of one worker of this process in its consumer groups."""
    return f"{socket.gethostname()}-{os.getpid()}-{token_hex(3)}"


def new_password() -> str:
    """Return a password of 256 random bits, in letters, digits, `-` and `_`."""
    return token_urlsafe(32)


def id_of_entry(stream: str, entry: str) -> UUID:
    """Return the UUIDv7 of the message in `entry` of `stream`, which is the same at every call.

    `entry` is a Redis stream id, `milliseconds-sequence`, and provides the timestamp.
    """
    return _uuid7(milliseconds_of(entry), blake2b(f"{stream} {entry}".encode(), digest_size=10).digest())


@lru_cache(_IDS_CACHED_MAX)
def child_id(parent: UUID, n: int) -> UUID:
    """Return the id of the n-th event that follows from `parent`, a UUIDv5 (RFC 9562, section 5.5)."""
    digest = sha1(parent.bytes + b"%d" % n, usedforsecurity=False).digest()
    value = int.from_bytes(digest[:16], "big") & _WITHOUT_VERSION
    return UUID(int=value | _VERSION_5 | _VARIANT)


def idempotency_key(tenant: str, session_id: str, round: int, call_id: str) -> str:
    """Return the name of one tool call's effect, the same across all retries and takeovers."""
    return f"{tenant}/{session_id}/{round}/{call_id}"


def child_session_id(parent: str, request: int) -> str:
    """Return the id of the session that a session has begun with one of its requests.

    It contains the id of the root session, with which it shares a partition.
    """
    root = parent.partition(CHILD)[0]
    return f"{root}{CHILD}{blake2b(f'{parent} {request}'.encode(), digest_size=8).hexdigest()}"


@lru_cache(_IDS_CACHED_MAX)
def partition_of(session_id: str, partitions: int) -> int:
    """Return the partition of a session: a stable hash (CRC-32) of its id, or of its root's, modulo the partitions."""
    return zlib.crc32(session_id.partition(CHILD)[0].encode()) % partitions


def _uuid7(milliseconds: int, random: bytes) -> UUID:
    tail = int.from_bytes(random, "big") & ((1 << 74) - 1)
    value = (milliseconds & ((1 << 48) - 1)) << 80
    value |= _VERSION_7 | ((tail >> 62) << 64) | _VARIANT | (tail & ((1 << 62) - 1))
    return UUID(int=value)
