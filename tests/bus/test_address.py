"""The valid forms of ANTIPHON_REDIS_URL, and the errors for others."""

import pytest
from antiphon_shared.bus.address import DEFAULT_URL, form_for, parse
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secrets_in

from tests.rows import each_row


@pytest.mark.parametrize(
    "url", [DEFAULT_URL, "rediss://u:p@h:7000/3?ssl_ca_certs=ca.pem", "unix:///tmp/redis.sock?db=2"]
)
def test_a_single_server_url_is_kept_unchanged(url: str) -> None:
    address = parse(url)
    assert address.servers == (url,)
    assert not address.sentinels


def test_several_nodes_share_the_rest_of_the_url() -> None:
    address = parse("rediss://u:p@one:7000,two,[::1]:7002/0?ssl_ca_certs=ca.pem")
    assert address.servers == tuple(
        f"rediss://u:p@{host}/0?ssl_ca_certs=ca.pem" for host in ("one:7000", "two:6379", "[::1]:7002")
    )


def test_sentinels_have_their_own_credentials_and_share_the_rest() -> None:
    given = "sentinel_username=s&sentinel_password=x%2Fy&ssl_ca_certs=ca.pem"
    address = parse(f"rediss+sentinel://u:p@one:26380,two/main/4?{given}")
    assert address.service == "main"
    assert address.database == 4
    assert address.servers == ("rediss://u:p@main/4?ssl_ca_certs=ca.pem",)
    assert address.sentinels == (
        "rediss://s:x%2Fy@one:26380/0?ssl_ca_certs=ca.pem",
        "rediss://s:x%2Fy@two:26379/0?ssl_ca_certs=ca.pem",
    )


@each_row(
    "url",
    [
        "redis+sentinel://:sesame@one,two",
        "redis+sentinel://:sesame@one,two/",
        "redis+sentinel://:sesame@one,two/main/zero",
        "redis+sentinel://:sesame@one:port/main",
        "redis+sentinel://:sesame@one:70000/main",
        "redis+sentinel://:sesame@/main",
        "redis+sentinel://:open/sesame@one/main",
        "redis://:sesame@one:7000,two:sesame/0",
        "redis://:sesame@one,/0",
        "redis+cluster://:sesame@one/0",
        "redis+sentinel://:sesame[@one/main",
        "redis://one/0?sesame=1",
        "redis://one,two/0?sesame=1",
        "redis+sentinel://one/main?sesame=1",
        "rediss://one/0?ssl_cert_reqs=sesame",
        "redis://:open?sesame@one/0",
        "redis://one/0?decode_responses=true",
    ],
)
def test_a_malformed_address_is_answered_with_the_right_form_and_never_quoted(url: str) -> None:
    with pytest.raises(ConfigurationError, match="ANTIPHON_REDIS_URL") as refused:
        parse(url)
    assert "sesame" not in str(refused.value)
    assert "redis+sentinel://USER:<PASSWORD>@HOST:PORT,HOST:PORT/SERVICE/DB" in str(refused.value)
    shown = Redactor().text(str(refused.value))
    assert shown == str(refused.value), "the command line prints it redacted"


def test_an_address_is_shown_to_another_user_in_its_own_form() -> None:
    assert form_for("redis://:old@h:7000/2", "client", "a/b") == "redis://client:a%2Fb@HOST:PORT/2"
    shown = form_for("rediss+sentinel://:old@h:7000/main/2", "client", "a/b")
    assert shown == "rediss+sentinel://client:a%2Fb@HOST:PORT,HOST:PORT/main/2"


def test_both_passwords_of_an_address_are_secrets() -> None:
    found = list(secrets_in("redis+sentinel://u:one@h:1,i:2/main?sentinel_password=other"))
    assert {"one", "other"} <= set(found)
