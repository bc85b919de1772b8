"""A grant gives exactly its scopes, to exactly its session and tenant, for exactly its time; all else gives none."""

import base64
import hmac
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import orjson
import pytest
from antiphon_shared.tools.grant_keys import PublicKey
from antiphon_shared.tools.grant_verifier import LEEWAY, GrantRefused, Verified, genuine
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row
from tool_dispatcher.access.grants import Authorization, Verifier

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
KEY, OTHER_KEY = ed25519.Ed25519PrivateKey.generate(), ed25519.Ed25519PrivateKey.generate()
P256_KEY = ec.generate_private_key(ec.SECP256R1())
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC_PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
VERIFIER = Verifier([KEY.public_key()])


def a_payload(**claims: Any) -> dict[str, Any]:
    """Return claims that are valid at noon for any session; None removes one."""
    good = {"aud": "antiphon", "exp": NOON.timestamp() + 60, "scopes": ["read", "write"]}
    return {name: value for name, value in {**good, **claims}.items() if value is not None}


def a_token(
    key: Any = KEY, algorithm: str = "EdDSA", headers: dict[str, Any] | None = None, **claims: Any
) -> str:
    return jwt.encode(a_payload(**claims), key, algorithm=algorithm, headers=headers)


def in_base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def by_hand(header: dict[str, Any], signature: bytes = b"", **claims: Any) -> str:
    """Return a token as no library would make it."""
    body = f"{in_base64(orjson.dumps(header))}.{in_base64(orjson.dumps(a_payload(**claims)))}"
    return f"{body}.{in_base64(signature)}"


def authorization(
    token: str,
    session_id: str = "s1",
    tenant: str = "default",
    now: datetime = NOON,
    verifier: Verifier = VERIFIER,
) -> Authorization:
    return verifier.verify(token, session_id, tenant, now)


def problem(token: str, **circumstances: Any) -> str:
    """Return why a grant gives no scopes."""
    found = authorization(token, **circumstances)
    assert found.scopes == frozenset()
    assert found.problem.startswith("The session's grant ")
    assert token not in found.problem
    return found.problem


def test_a_good_grant_gives_its_scopes() -> None:
    assert authorization(a_token()).scopes == {"read", "write"}
    assert authorization(a_token(scopes=["crm.contacts"])).scopes == {"crm.contacts"}


def test_a_grant_that_has_ended_is_good_for_undoing_alone() -> None:
    over = NOON + timedelta(days=7)
    assert VERIFIER.verify(a_token(), "s1", "default", over).scopes == frozenset()
    undoing = VERIFIER.verify(a_token(), "s1", "default", over, for_undo=True)
    assert undoing.scopes == {"read", "write"}
    assert not undoing.is_over(over)


@pytest.mark.parametrize("claims", [{"session": "s2"}, {"nbf": NOON.timestamp() + 3600}, {"tenant": "b"}])
def test_undoing_ignores_only_the_expiry_of_a_grant(claims: dict[str, Any]) -> None:
    token = a_token(**{**claims, "exp": NOON.timestamp() + 7200})
    assert VERIFIER.verify(token, "s1", "default", NOON, for_undo=True).problem
    forged = a_token(key=OTHER_KEY)
    assert VERIFIER.verify(forged, "s1", "default", NOON, for_undo=True).problem


def test_an_authorization_ends_with_its_grant() -> None:
    granted = authorization(a_token())
    assert granted.ends is not None
    assert not granted.is_over(granted.ends + LEEWAY)
    assert granted.is_over(granted.ends + LEEWAY + timedelta(seconds=1))
    assert not Authorization(frozenset({"read"})).is_over(granted.ends + timedelta(days=365))


def test_without_a_grant_there_are_the_default_scopes() -> None:
    assert authorization("") == Authorization(frozenset({"read"}))
    assert authorization("", verifier=Verifier(default_scopes=())) == Authorization(frozenset())


def test_without_a_grant_no_session_runs_for_a_tenant() -> None:
    found = authorization("", tenant="acme")
    assert found.scopes == frozenset()
    assert "'acme'" in found.problem


@pytest.mark.parametrize(
    ("private", "algorithm"), [(KEY, "EdDSA"), (P256_KEY, "ES256"), (RSA_KEY, "RS256"), (RSA_KEY, "PS256")]
)
def test_each_kind_of_key_verifies_its_own_algorithms(private: Any, algorithm: str) -> None:
    verifier = Verifier([private.public_key()])
    assert authorization(a_token(private, algorithm), verifier=verifier).problem == ""


@pytest.mark.parametrize(("private", "algorithm"), [(RSA_KEY, "RS512"), (RSA_KEY, "PS384")])
def test_other_algorithms_of_a_key_are_refused(private: Any, algorithm: str) -> None:
    token = a_token(private, algorithm)
    assert "algorithm" in problem(token, verifier=Verifier([private.public_key()]))


def test_a_grant_of_another_key_is_refused() -> None:
    assert "not signed by a key that is trusted" in problem(a_token(OTHER_KEY))
    assert "not signed by a key" in problem(a_token(OTHER_KEY, headers={"kid": "1", "jwk": {"kty": "OKP"}}))


def test_a_grant_whose_claims_were_changed_is_refused() -> None:
    header, _, signature = a_token(scopes=["read"]).split(".")
    widened = in_base64(orjson.dumps(a_payload(scopes=["read", "write"])))
    assert "not signed by a key" in problem(f"{header}.{widened}.{signature}")


@each_row("name", ["none", "None", "NONE", "nOnE", "", None, 0, ["EdDSA"], {"a": 1}])
def test_an_unsigned_grant_is_refused(name: Any) -> None:
    problem(by_hand({"alg": name, "typ": "JWT"}))


@pytest.mark.parametrize(
    "secret",
    [PUBLIC_PEM, PUBLIC_PEM.strip(), KEY.public_key().public_bytes_raw()],
    ids=["PEM", "PEM without its last line break", "raw"],
)
def test_a_grant_signed_with_the_public_key_as_a_shared_secret_is_refused(secret: bytes) -> None:
    """A reader of the verifying key must not be able to issue grants with it."""
    unsigned = by_hand({"alg": "HS256", "typ": "JWT"}).rstrip(".")
    token = f"{unsigned}.{in_base64(hmac.digest(secret, unsigned.encode(), 'sha256'))}"
    assert "algorithm" in problem(token)


@pytest.mark.parametrize("audience", ["somebody", ["a", "b"], [], 7])
def test_a_grant_for_another_audience_is_refused(audience: Any) -> None:
    problem(a_token(aud=audience) if isinstance(audience, str | list) else signed(a_payload(aud=audience)))


@pytest.mark.parametrize("claim", ["aud", "exp"])
def test_a_grant_without_audience_or_end_is_refused(claim: str) -> None:
    assert f"`{claim}`" in problem(a_token(aud=None) if claim == "aud" else a_token(exp=None))


def signed(payload: dict[str, Any], header: dict[str, Any] | None = None) -> str:
    """Sign a payload, or a header, that the library would not sign."""
    body = f"{in_base64(orjson.dumps(header or {'alg': 'EdDSA'}))}.{in_base64(orjson.dumps(payload))}"
    return f"{body}.{in_base64(KEY.sign(body.encode()))}"


@each_row(
    "claims",
    [
        {"scopes": "read write"},
        {"scopes": None},
        {"scopes": [1]},
        {"scopes": ["no spaces"]},
        {"exp": "tomorrow"},
        {"exp": True},
        {"exp": 1e300},
        {"nbf": "now"},
        {"nbf": 1e300},
        {"tenant": 7},
        {"session": ["s1"]},
    ],
)
def test_a_genuine_grant_that_makes_no_sense_is_refused(claims: dict[str, Any]) -> None:
    problem(signed(a_payload(**claims)))


def test_a_grant_ends() -> None:
    token = a_token()
    assert authorization(token, now=NOON + timedelta(seconds=65)).problem == ""
    assert "ended at 2026-11-21 12:01:00 UTC" in problem(token, now=NOON + timedelta(seconds=75))


def test_a_cached_grant_still_expires() -> None:
    verifier, token = Verifier([KEY.public_key()]), a_token(session="s1", tenant="acme")
    good = {"verifier": verifier, "tenant": "acme"}
    assert authorization(token, "s1", "acme", verifier=verifier).problem == ""
    assert "ended" in problem(token, now=NOON + timedelta(hours=1), **good)
    assert "another session" in problem(token, session_id="s2", **good)
    assert "another tenant" in problem(token, verifier=verifier)
    assert authorization(token, "s1", "acme", verifier=verifier).problem == ""


@pytest.mark.parametrize("end_s", [253_402_300_799, -62_135_596_800])
def test_the_ends_of_time_are_times(end_s: int) -> None:
    found = authorization(signed(a_payload(exp=end_s)))
    assert (found.problem == "") == (end_s > 0)


def test_a_grant_may_begin_later() -> None:
    token = a_token(nbf=NOON.timestamp() + 30)
    assert "begins at 2026-11-21 12:00:30 UTC" in problem(token)
    assert authorization(token, now=NOON + timedelta(seconds=25)).problem == ""


def test_the_issue_time_and_unknown_claims_are_ignored() -> None:
    assert authorization(a_token(iat=NOON.timestamp() + 9_999, iss="x", jti="1")).problem == ""
    assert authorization(signed(a_payload(sub=7, jti=8, iat="never"))).problem == ""


def test_a_grant_for_one_session_is_for_no_other() -> None:
    token = a_token(session="s1")
    assert authorization(token).problem == ""
    assert "another session" in problem(token, session_id="s2")


def test_a_grant_for_one_tenant_is_for_no_other() -> None:
    token = a_token(tenant="acme")
    assert authorization(token, tenant="acme").problem == ""
    assert "another tenant" in problem(token)
    assert "another tenant" in problem(a_token(), tenant="acme")


def test_keys_can_be_rotated() -> None:
    """The new key is added; grants of the old one are good until it is taken out."""
    both: list[PublicKey] = [OTHER_KEY.public_key(), KEY.public_key(), RSA_KEY.public_key()]
    for token in (a_token(), a_token(OTHER_KEY), a_token(RSA_KEY, "RS256")):
        assert authorization(token, verifier=Verifier(both)).problem == ""
    assert "not signed by a key" in problem(a_token(), verifier=Verifier(both[:1]))


def test_without_a_key_no_grant_is_accepted_and_no_default_given() -> None:
    assert "no key" in problem(a_token(), verifier=Verifier())


def test_verified_grants_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antiphon_shared.tools.grant_verifier._VERIFIED_MAX", 3)
    verifier = Verifier([KEY.public_key()])
    for n in range(10):
        assert authorization(a_token(jti=str(n)), verifier=verifier).problem == ""
    assert len(verifier._grants._verified) == 3


def test_the_signature_of_a_grant_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session's batches come one after the other, with the same grant."""
    checked = []

    def counted(token: str, keys: Sequence[PublicKey]) -> Verified:
        checked.append(token)
        return genuine(token, keys)

    monkeypatch.setattr("antiphon_shared.tools.grant_verifier.genuine", counted)
    verifier, token = Verifier([KEY.public_key()]), a_token()
    assert [authorization(token, verifier=verifier).problem for _ in range(3)] == ["", "", ""]
    assert checked == [token]


def test_a_refused_grant_is_not_remembered_as_good() -> None:
    verifier = Verifier([KEY.public_key()])
    for _ in range(2):
        assert "not signed by a key" in problem(a_token(OTHER_KEY), verifier=verifier)


@each_row(
    "token",
    [
        "x",
        "a.b.c",
        "..",
        "a..c",
        "\ud800",
        "ä.ö.ü",
        f"{a_token()}.x",
        a_token()[:-5],
        f" {a_token()}",
        "." * 5_000,
        "e30.e30.e30",
    ],
)
def test_garbage_is_refused_and_not_quoted(token: str) -> None:
    assert len(problem(token)) < 300


def test_a_token_that_is_too_long_is_not_even_read() -> None:
    assert "longer than" in problem(a_token(note="x" * 9_000))


def test_deep_json_is_refused() -> None:
    deep = in_base64(b"[" * 3_000)
    problem(f"{deep}.e30.e30")


def test_a_signature_that_needs_more_than_we_know_is_refused() -> None:
    """RFC 7515: a critical extension that is not understood must not be ignored."""
    problem(signed(a_payload(), {"alg": "EdDSA", "crit": ["exp"], "exp": 1}))


@given(st.text() | st.lists(st.binary().map(in_base64), min_size=3, max_size=3).map(".".join))
def test_no_token_that_we_did_not_sign_gives_anything(token: str) -> None:
    assert authorization(token).scopes == (frozenset({"read"}) if token == "" else frozenset())


def test_a_grant_whose_time_is_over_is_still_genuine() -> None:
    assert genuine(a_token(exp=1), [KEY.public_key()]).claims.scopes == ("read", "write")
    with pytest.raises(GrantRefused):
        genuine(a_token(OTHER_KEY, exp=1), [KEY.public_key()])
