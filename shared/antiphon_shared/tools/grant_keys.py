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
        raise InvalidKey(f"{source} is too large for a file of keys.", hint=_HOW_TO)
    if b"PRIVATE KEY" in content:
        raise InvalidKey(
            f"{source} contains a private key.",
            hint="Verification needs only the public key; anyone who can read the private key can "
            "issue grants. Use the public key, remove the private key from this machine, and "
            "create a new pair if others could read it.",
        )
    blocks = list(_BLOCK.finditer(content))
    if not blocks or len(blocks) != content.count(_BEGINNING):
        raise InvalidKey(f"{source} does not contain a complete public key in PEM.", hint=_HOW_TO)
    if len(blocks) > KEYS_MAX:
        raise InvalidKey(f"{source} contains more than {KEYS_MAX} keys.", hint="Remove unused keys.")
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
        hint = "Extract its key with `openssl x509 -pubkey -noout -in FILE`."
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
            problem = f"is an RSA key of {key.key_size} bits; the minimum is {_RSA_BITS_MIN}"
            raise InvalidKey(f"{source} {problem}.", hint=_HOW_TO)
        case _:
            raise InvalidKey(f"{source} is a kind of key that cannot verify grants.", hint=_HOW_TO)


_HOW_TO = "Use Ed25519, P-256 or RSA public keys in PEM; `antiphon grants keygen` creates a pair."
