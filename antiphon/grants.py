"""The issuing of grants, with the private signing key. The pipeline never imports this.

A grant is a JSON Web Token, signed with Ed25519; `antiphon_shared.tools.grants` lists its claims.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import jwt
from antiphon_shared.events.client import GRANT_LENGTH_MAX
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.grants import AUDIENCE, UnreadableGrant, claims_of
from antiphon_shared.values import DEFAULT_TENANT
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

PRIVATE_NAME = "grant-signing-key.pem"
PUBLIC_NAME = "grant-public-key.pem"
EXPIRES_S_MAX = 86_400 * 366
_KEY_BYTES_MAX = 10_000
_PRIVATE_MODE, _PUBLIC_MODE = 0o600, 0o644


class CannotIssue(ConfigurationError):
    """The input for a key or a grant is not usable."""

    code = "cannot_issue"


@dataclass(frozen=True, slots=True)
class KeyPair:
    """The files of a new pair of keys."""

    private: Path
    public: Path


def make_key_pair(folder: Path) -> KeyPair:
    """Write a new pair into two new files of `folder`, which is created if missing. Raises CannotIssue."""
    pair = KeyPair(folder / PRIVATE_NAME, folder / PUBLIC_NAME)
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if existing := [
            str(path) for path in (pair.private, pair.public) if path.exists() or path.is_symlink()
        ]:
            raise CannotIssue(
                f"{' and '.join(existing)} already exist. Nothing was written.",
                hint="Keys are never overwritten. Name another folder, or move the existing files.",
            )
        _write_new(pair.private, private, _PRIVATE_MODE)
        _write_new(pair.public, public, _PUBLIC_MODE)
    except OSError as error:
        raise CannotIssue(f"The keys could not be written: {error.filename}: {error.strerror}.") from None
    return pair


def load_signing_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a file. Raises CannotIssue, which never quotes the file's content."""
    try:
        with path.open("rb") as file:
            content = file.read(_KEY_BYTES_MAX)
    except OSError as error:
        raise CannotIssue(f"{path} cannot be read: {error.strerror}.", hint=_HOW_TO) from None
    if b"PRIVATE KEY" not in content:
        problem = "is a public key" if b"PUBLIC KEY" in content else "does not contain a PEM key"
        raise CannotIssue(f"{path} {problem}; signing grants needs the private key.", hint=_HOW_TO)
    try:
        key = load_pem_private_key(content, password=None)
    except TypeError:
        raise CannotIssue(
            f"{path} is encrypted with a passphrase.", hint="Use a copy without a passphrase."
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise CannotIssue(f"{path} does not contain a readable private key.", hint=_HOW_TO) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise CannotIssue(f"{path} is not an Ed25519 key.", hint=_HOW_TO)
    return key


def is_open_to_others(path: Path) -> bool:
    """Return whether users other than its owner may read the file."""
    return bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def issue(
    key: Ed25519PrivateKey,
    scopes: Iterable[str],
    now: datetime,
    *,
    tenant: str = DEFAULT_TENANT,
    session: str | None = None,
    expires_s: float = 3_600,
) -> str:
    """Return a grant for any session, or for one. Raises CannotIssue, which names the invalid part."""
    if not 1 <= expires_s <= EXPIRES_S_MAX:
        raise CannotIssue(f"A grant lasts 1 to {EXPIRES_S_MAX} seconds, not {expires_s:g}.")
    payload = {
        "aud": AUDIENCE,
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(seconds=expires_s)).timestamp()),
        "tenant": tenant,
        "scopes": list(dict.fromkeys(scopes)),
        **({} if session is None else {"session": session}),
    }
    try:
        claims_of(payload)
    except UnreadableGrant as error:
        raise CannotIssue(f"These claims are invalid: {error}") from None
    token = jwt.encode(payload, key, algorithm="EdDSA")
    if len(token) > GRANT_LENGTH_MAX:
        raise CannotIssue(
            f"The grant would have {len(token)} characters; the limit is {GRANT_LENGTH_MAX}.",
            hint="Name fewer scopes.",
        )
    return token


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that must not exist yet, with `mode` from the beginning."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


_HOW_TO = "`antiphon grants keygen` creates a pair of keys."
