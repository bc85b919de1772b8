"""Somebody who issues grants, and the file of the key that verifies them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
from antiphon_shared.process.clock import utc_now
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


@dataclass(frozen=True)
class Issuer:
    """Holds the signing key."""

    key: Ed25519PrivateKey
    key_file: str

    def grant(self, scopes: Sequence[str] = ("read", "write"), lasts_s: float = 600, **claims: Any) -> str:
        """Return a grant that ends in `lasts_s`, which may be negative."""
        exp = utc_now().timestamp() + lasts_s
        payload = {"aud": "antiphon", "exp": exp, "scopes": list(scopes), **claims}
        return jwt.encode(payload, self.key, algorithm="EdDSA")


def an_issuer(folder: Path) -> Issuer:
    """Return an issuer with a new key, whose public key is in a file there."""
    key, file = Ed25519PrivateKey.generate(), folder / "grants.pem"
    file.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return Issuer(key, str(file))
