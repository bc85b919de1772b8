"""Issuing grants: a grant signed here is verified by a dispatcher, and an invalid one cannot be signed."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.tools.grant_keys import load_keys
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from antiphon.grants import CannotIssue, is_open_to_others, issue, load_signing_key, make_key_pair
from tests.rows import each_row
from tool_dispatcher.access.grants import Verifier

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_a_grant_issued_with_the_private_key_is_verified_with_the_public_one(tmp_path: Path) -> None:
    pair = make_key_pair(tmp_path / "new" / "keys")
    token = issue(load_signing_key(pair.private), ["read", "crm", "read"], NOON, tenant="acme", session="s1")
    verifier = Verifier(load_keys(str(pair.public), "a test"))
    assert verifier.verify(token, "s1", "acme", NOON).scopes == {"read", "crm"}
    assert verifier.verify(token, "s2", "acme", NOON).problem
    assert verifier.verify(token, "s1", "default", NOON).problem
    assert verifier.verify(token, "s1", "acme", NOON + timedelta(hours=2)).problem


def test_the_private_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    pair = make_key_pair(tmp_path)
    assert stat.S_IMODE(pair.private.stat().st_mode) == 0o600
    assert not is_open_to_others(pair.private)
    pair.private.chmod(0o640)
    assert is_open_to_others(pair.private)


@pytest.mark.parametrize("name", ["grant-signing-key.pem", "grant-public-key.pem"])
def test_an_existing_key_is_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("precious")
    with pytest.raises(CannotIssue, match=f"{name}.* already exist. Nothing was written"):
        make_key_pair(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "precious"


def test_keys_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "grant-signing-key.pem").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotIssue):
        make_key_pair(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotIssue, match="file"):
        make_key_pair(tmp_path / "file")


def written(folder: Path, content: bytes) -> Path:
    (folder / "key.pem").write_bytes(content)
    return folder / "key.pem"


def in_pem(key: Any, password: bytes = b"") -> bytes:
    lock = BestAvailableEncryption(password) if password else NoEncryption()
    content: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "does not contain a PEM key"),
        (b"\xff\xfe", "does not contain a PEM key"),
        (b"-----BEGIN PUBLIC KEY-----", "is a public key"),
        (
            b"-----BEGIN PRIVATE KEY-----\nsesame\n-----END PRIVATE KEY-----",
            "a readable private key",
        ),
        (in_pem(ed25519.Ed25519PrivateKey.generate(), b"sesame"), "encrypted with a passphrase"),
        (in_pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)), "not an Ed25519 key"),
    ],
)
def test_an_invalid_signing_key_is_refused_and_not_quoted(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(CannotIssue, match=message) as raised:
        load_signing_key(written(tmp_path, content))
    assert "sesame" not in str(raised.value)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotIssue, match=r"none\.pem cannot be read: No such file"):
        load_signing_key(tmp_path / "none.pem")


@each_row(
    ("wanted", "message"),
    [
        ({"scopes": ["no spaces"]}, "scopes"),
        ({"scopes": ["x" * 101]}, "scopes"),
        ({"scopes": [f"scope-{n}" for n in range(1_001)]}, "scopes"),
        ({"scopes": [f"{'a-long-scope' * 8}{n}" for n in range(100)]}, "characters; the limit is 8192"),
        ({"tenant": "a/b"}, "tenant"),
        ({"tenant": ""}, "tenant"),
        ({"session": "no spaces"}, "session"),
        ({"session": ""}, "session"),
        ({"expires_s": 0}, "seconds"),
        ({"expires_s": 1e12}, "seconds"),
        ({"expires_s": float("nan")}, "seconds"),
    ],
)
def test_a_grant_that_could_not_be_used_is_not_issued(wanted: dict[str, Any], message: str) -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    with pytest.raises(CannotIssue, match=message):
        issue(key, wanted.pop("scopes", ["read"]), NOON, **wanted)
