"""The keys that verify grants: public keys in PEM, read once from one file.

Several keys in a file allow rotation: the new one is added, the old one stays until its grants have ended.
"""

import re
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from antiphon_shared.process.errors import ConfigurationError

KEYS_MAX = 20
_FILE_BYTES_MAX = 100_000
_RSA_BITS_MIN = 2_048
_BEGINNING = b"-----BEGIN "
_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,40})-----[A-Za-z0-9+/=\s]{1,20000}-----END \1-----")

PublicKey = Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey


class InvalidKey(ConfigurationError):
    """A key for verifying grants that is not a usable public key."""

    code = "invalid_key"


def load_keys(path: str, source: str) -> tuple[PublicKey, ...]:
    """Return the public keys in a file. `source` names the setting or option, for the errors. Raises InvalidKey."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(_FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no path"
        raise InvalidKey(f"{source}: {path} cannot be read: {reason}.", hint=_HOW_TO) from None
    return read_keys(content, f"{source}: {path}")


def read_keys(content: bytes, source: str) -> tuple[PublicKey, ...]:
    """Return the public keys in PEM, in their order. Raises InvalidKey, which never quotes the content."""
    if len(content) > _FILE_BYTES_MAX:
        raise InvalidKey(f"{source} is too large to hold keys.", hint=_HOW_TO)
    if b"PRIVATE KEY" in content:
        raise InvalidKey(
            f"{source} holds a private key.",
            hint="Who only verifies must not have one: whoever reads it there can issue grants. Give it the public "
            "key, take the private one off this machine, and make a new pair if others could read it.",
        )
    blocks = list(_BLOCK.finditer(content))
    if not blocks or len(blocks) != content.count(_BEGINNING):
        raise InvalidKey(f"{source} holds no complete public key in PEM.", hint=_HOW_TO)
    if len(blocks) > KEYS_MAX:
        raise InvalidKey(
            f"{source} holds more than {KEYS_MAX} keys.", hint="Take out those that are not used."
        )
    return tuple(_key(block, f"{source}, key {n}") for n, block in enumerate(blocks, 1))


def algorithms_of(key: PublicKey) -> tuple[str, ...]:
    """Return the algorithms that a grant verified with this key may name; grants with any other are refused."""
    match key:
        case Ed25519PublicKey():
            return ("EdDSA",)
        case EllipticCurvePublicKey():
            return ("ES256",)
        case RSAPublicKey():
            return ("RS256", "PS256")


def _key(block: "re.Match[bytes]", source: str) -> PublicKey:
    if block[1] == b"CERTIFICATE":
        hint = "Take its key out with `openssl x509 -pubkey -noout -in FILE`."
        raise InvalidKey(f"{source} is a certificate.", hint=hint)
    try:
        key = load_pem_public_key(block[0])
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidKey(f"{source} is not a public key.", hint=_HOW_TO) from None
    match key:
        case Ed25519PublicKey():
            return key
        case EllipticCurvePublicKey() if isinstance(key.curve, SECP256R1):
            return key
        case RSAPublicKey() if key.key_size >= _RSA_BITS_MIN:
            return key
        case RSAPublicKey():
            problem = f"is an RSA key of {key.key_size} bits; {_RSA_BITS_MIN} are the least"
            raise InvalidKey(f"{source} {problem}.", hint=_HOW_TO)
        case _:
            raise InvalidKey(f"{source} is of a kind that verifies no grants.", hint=_HOW_TO)


_HOW_TO = "It takes Ed25519, P-256 or RSA public keys in PEM; `antiphon grants keygen` makes a pair."
