"""The file of verifying keys: one or several public keys, and nothing that could sign."""

from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.grant_keys import KEYS_MAX, algorithms_of, load_keys, read_keys
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from tests.rows import each_row

ED25519, P256 = ed25519.Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1())
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public(key: Any, form: PublicFormat = PublicFormat.SubjectPublicKeyInfo) -> bytes:
    content: bytes = key.public_key().public_bytes(Encoding.PEM, form)
    return content


def private(key: Any, form: PrivateFormat = PrivateFormat.PKCS8, password: bytes = b"") -> bytes:
    lock = BestAvailableEncryption(password) if password else NoEncryption()
    content: bytes = key.private_bytes(Encoding.PEM, form, lock)
    return content


def refused(content: bytes) -> str:
    with pytest.raises(ConfigurationError, match=r"^KEYS: key\.pem") as raised:
        read_keys(content, "KEYS: key.pem")
    return str(raised.value)


@pytest.mark.parametrize(
    ("key", "algorithms"), [(ED25519, ("EdDSA",)), (P256, ("ES256",)), (RSA, ("RS256", "PS256"))]
)
def test_each_kind_of_key_is_for_its_own_algorithms(key: Any, algorithms: tuple[str, ...]) -> None:
    (found,) = read_keys(public(key), "")
    assert algorithms_of(found) == algorithms


def test_one_file_may_hold_several_keys_with_notes_between_them(tmp_path: Path) -> None:
    path = tmp_path / "keys.pem"
    path.write_bytes(
        b"the new one\n"
        + public(ED25519)
        + b"\r\n\nthe old one:\n"
        + public(RSA, PublicFormat.PKCS1)
        + public(P256)
    )
    assert [algorithms_of(key) for key in load_keys(str(path), "GRANT_KEY_FILE")] == [
        ("EdDSA",),
        ("RS256", "PS256"),
        ("ES256",),
    ]


@pytest.mark.parametrize(
    "content",
    [
        private(ED25519),
        private(P256, PrivateFormat.TraditionalOpenSSL),
        private(RSA, password=b"sesame"),
        private(ED25519, PrivateFormat.OpenSSH),
        public(ED25519) + private(ED25519),
        public(ED25519) + private(ED25519)[:60],
    ],
)
def test_a_private_key_is_refused_and_not_quoted(content: bytes) -> None:
    message = refused(content)
    assert "contains a private key" in message
    assert "MC4CAQ" not in message


@each_row(
    ("content", "message"),
    [
        (b"", "not contain a complete public key"),
        (b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 somebody", "not contain a complete public key"),
        (public(ED25519)[:-10], "not contain a complete public key"),
        (public(ED25519) + public(P256)[:-10], "not contain a complete public key"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "key 1 is not a public key"),
        (public(ED25519) + b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "key 2 is not"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "is a certificate.*openssl x509"),
        (public(ed448.Ed448PrivateKey.generate()), "cannot verify grants"),
        (public(ec.generate_private_key(ec.SECP384R1())), "cannot verify grants"),
        (public(dsa.generate_private_key(1024)), "cannot verify grants"),
        (public(ED25519) * (KEYS_MAX + 1), "more than 20 keys"),
        (b"x" * 100_001, "too large"),
    ],
)
def test_an_unusable_key_is_refused_with_the_reason(content: bytes, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read_keys(content, "KEYS: key.pem")


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
def test_a_short_rsa_key_is_refused() -> None:
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    assert "1024 bits" in refused(public(short))


def test_a_file_that_cannot_be_read_is_named_with_its_setting(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.pem", tmp_path):
        with pytest.raises(ConfigurationError, match=f"GRANT_KEY_FILE: {path} cannot be"):
            load_keys(str(path), "GRANT_KEY_FILE")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_keys("a\0b", "GRANT_KEY_FILE")
