"""Signatures of messages, so that a client without a key cannot inject messages into Redis. Pure.

A signature is HMAC-SHA256 (RFC 2104) over the name of the stream, a line break, and the event's bytes, in
hexadecimal. The name binds the message to its stream: an inbox, a session's log, or the queue of submissions.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from antiphon_shared.process.errors import ConfigurationError, UnreadableEvent

SIGNATURE = b"signature"
"""The field next to `event`."""
KEY_LENGTH_MIN = 16


class BadSignature(UnreadableEvent):
    """The error for an entry that is unsigned, altered, forged, or copied from another stream."""

    code = "bad_signature"


class KeyMissing(ConfigurationError):
    """The error for a signed message in a process without a key."""

    code = "key_missing"


@dataclass(frozen=True, slots=True)
class Signer:
    """A signer, which signs with the first key, and verifies with every key."""

    keys: tuple[bytes, ...] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> "Signer | None":
        """Return the signer for a comma list of keys; None for an empty one. Raises ConfigurationError."""
        keys = tuple(key for part in text.split(",") if (key := part.strip().encode()))
        if any(len(key) < KEY_LENGTH_MIN for key in keys):
            raise ConfigurationError(
                f"ANTIPHON_SIGNING_KEY: a key is shorter than {KEY_LENGTH_MIN} bytes.",
                hint="Generate one with `openssl rand -hex 32`.",
            )
        return cls(keys) if keys else None

    def sign(self, stream: str, event: bytes) -> str:
        return _signature(self.keys[0], stream, event)

    def verify(self, stream: str, event: bytes, signature: bytes | None) -> None:
        """Raise BadSignature if the signature does not match; the message does not contain the right one."""
        if signature is None:
            raise BadSignature("signature: missing.", hint=_SAME_KEY)
        for key in self.keys:
            if hmac.compare_digest(_signature(key, stream, event).encode(), signature):
                return
        raise BadSignature(f"signature: does not match this event in {stream}.", hint=_SAME_KEY)


def verified_event(signer: Signer | None, stream: str, fields: Mapping[bytes, bytes]) -> bytes:
    """Return the event of an entry, verified if there is a key. Raises BadSignature."""
    event = fields.get(b"event", b"")
    if signer is not None:
        signer.verify(stream, event, fields.get(SIGNATURE))
    return event


def require_key(signer: Signer | None, fields: Mapping[bytes, bytes]) -> None:
    """Raise KeyMissing if the message is signed, and this process has no key."""
    if signer is None and SIGNATURE in fields:
        raise KeyMissing(
            "the messages of this pipeline are signed, but this process has no key.",
            hint="Set ANTIPHON_SIGNING_KEY to the same keys for every process and client.",
        )


def _signature(key: bytes, stream: str, event: bytes) -> str:
    return hmac.digest(key, stream.encode() + b"\n" + event, "sha256").hex()


_SAME_KEY = "ANTIPHON_SIGNING_KEY must contain the same keys for every process and client."
