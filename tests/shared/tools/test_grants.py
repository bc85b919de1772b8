"""Reading a grant, without believing it."""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from antiphon_shared.tools.grants import Claims, UnreadableGrant, read_claims
from hypothesis import given
from hypothesis import strategies as st

from tests.grants import a_grant, a_payload
from tests.rows import each_row

NOON_S = 1_795_262_400


def test_the_claims_of_a_grant_are_tenant_scopes_expiry_and_session() -> None:
    assert read_claims(a_grant(["read", "crm:write"], tenant="acme", exp=NOON_S, session="s1")) == Claims(
        tenant="acme",
        scopes=("read", "crm:write"),
        expires=datetime(2026, 11, 21, 12, tzinfo=UTC),
        session="s1",
    )


def test_tenant_and_session_may_be_left_out() -> None:
    claims = read_claims(a_grant(["read"]))
    assert (claims.tenant, claims.session) == ("default", "")


def test_claims_of_others_are_let_pass() -> None:
    assert read_claims(a_grant(["read"], iss="somebody", jti="1", iat=1, nbf=2.5)).scopes == ("read",)


def test_a_grant_for_several_audiences_is_for_us_too() -> None:
    assert read_claims(a_grant(["read"], aud=["other", "antiphon"])).scopes == ("read",)


@each_row(
    ("claims", "message"),
    [
        ({"aud": "somebody"}, "`aud`"),
        ({"aud": None}, "`aud`"),
        ({"aud": ["x"]}, "`aud`"),
        ({"exp": None}, "`exp`"),
        ({"exp": "tomorrow"}, "`exp`"),
        ({"exp": True}, "`exp`"),
        ({"exp": 1e300}, "`exp`"),
        ({"exp": -1e17}, "`exp`"),
        ({"scopes": None}, "`scopes`"),
        ({"scopes": "read write"}, "`scopes`"),
        ({"scopes": [1]}, "`scopes`"),
        ({"scopes": ["no spaces"]}, "`scopes`"),
        ({"scopes": ["read"] * 1_001}, "`scopes`"),
        ({"tenant": ""}, "`tenant`"),
        ({"tenant": "a/b"}, "`tenant`"),
        ({"tenant": 7}, "`tenant`"),
        ({"session": "no spaces"}, "`session`"),
    ],
)
def test_a_claim_that_cannot_be_is_named(claims: dict[str, Any], message: str) -> None:
    with pytest.raises(UnreadableGrant, match=message):
        read_claims(a_grant(**{"scopes": ["read"], **claims}))


def in_base64(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


@each_row(
    "token",
    [
        "",
        "token",
        "a.b",
        "a..c",
        "a.b.c.d",
        f"h.{in_base64(b'not json')}.s",
        f"h.{in_base64(b'[' * 100_000)}.s",
        f"h.{in_base64(b'[]')}.s",
        f"h.{in_base64(b'null')}.s",
        f"h.{in_base64(orjson.dumps(a_payload(['read'])))[:-3]}.s",
        "h.e30 .s",
        f"{a_grant()}\n",
        f" {a_grant()}",
        f"Bearer {a_grant()}",
        "h.ä.s",
    ],
)
def test_an_invalid_token_is_unreadable_and_not_quoted(token: str) -> None:
    with pytest.raises(UnreadableGrant) as raised:
        read_claims(token)
    assert len(str(raised.value)) < 200


@given(st.text() | st.lists(st.binary().map(in_base64), min_size=3, max_size=3).map(".".join))
def test_any_malformed_token_raises_only_unreadable_grant(token: str) -> None:
    with pytest.raises(UnreadableGrant):
        read_claims(token)
