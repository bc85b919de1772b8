"""The signature of a request: made by the sender, verified by the receiver. Pure."""

import hmac

KEY_HEADER = "Idempotency-Key"
TIMESTAMP_HEADER = "X-Webhook-Timestamp"
SIGNATURE_HEADER = "X-Webhook-Signature"
WINDOW_S = 300
"""The greatest difference of a timestamp from the receiver's own time."""

_VERSION = "v1"


def sign(secret: str, timestamp: int, key: str, body: bytes) -> str:
    """Return `v1=` and the HMAC-SHA256 in hex over `timestamp.key.body`."""
    signed = b".".join((str(timestamp).encode(), key.encode(), body))
    return f"{_VERSION}={hmac.digest(secret.encode(), signed, 'sha256').hex()}"


def fault_in(secret: str, timestamp: str, key: str, body: bytes, signature: str, now: float) -> str:
    """Return why a request is not authentic; an empty text when it is."""
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= 12):
        return f"{TIMESTAMP_HEADER} is not a number of seconds."
    expected = sign(secret, int(timestamp), key, body)
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        return f"{SIGNATURE_HEADER} does not match."
    if abs(now - int(timestamp)) > WINDOW_S:
        return f"{TIMESTAMP_HEADER} is more than {WINDOW_S} s away from the time here."
    return ""
