"""The secrets in a process's environment."""

import os

import pytest
from antiphon_shared.process.settings import PipelineSettings
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secret_values, secrets_in
from pydantic import SecretStr


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith(("ANTIPHON_", "ANTHROPIC_"))]:
        monkeypatch.delenv(variable)


def test_without_secrets_in_the_environment_the_list_is_empty() -> None:
    assert secret_values() == ()


@pytest.mark.parametrize(
    ("url", "password"),
    [
        ("redis://:open-sesame@host:6379/0", "open-sesame"),
        ("rediss://user:open-sesame@host", "open-sesame"),
        ("redis://user:open%2Fsesame@host", "open/sesame"),
        ("redis://host/0?password=open-sesame", "open-sesame"),
        ("redis://:open/se#sa@me?@host:6379", "open/se#sa@me?"),
        ("redis://:[open-sesame@host", "[open-sesame"),
    ],
)
def test_the_password_of_a_url_is_secret(url: str, password: str) -> None:
    assert password in tuple(secrets_in(url))
    assert not {"host", "user", "redis"} & set(secrets_in(url))


@pytest.mark.parametrize("url", ["redis://localhost:6379/0", "https://user@host/a:b", "http://[::1]:8000/"])
def test_an_address_without_password_holds_no_secret(url: str) -> None:
    assert tuple(secrets_in(url)) == ()


def test_the_keys_of_the_pipeline_are_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_REDIS_URL", "redis://:open-sesame@host")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-of-anthropic")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://user:proxy-password@proxy.example")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-openai")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://user:other-password@proxy.example/v1")
    known = {"open-sesame", "a-key-of-anthropic", "proxy-password", "a-key-of-openai", "other-password"}
    assert known <= set(secret_values())


def test_secret_settings_that_were_given_otherwise_count_too() -> None:
    settings = PipelineSettings(redis_url=SecretStr("redis://:open-sesame@host"))
    assert "open-sesame" in secret_values(settings)


def test_the_values_of_variables_named_by_the_operator_are_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_TOOL_DISPATCHER_SECRETS", "CRM_KEY, DATABASE_URL ,NOT_SET,")
    monkeypatch.setenv("CRM_KEY", "a-key-of-the-crm")
    monkeypatch.setenv("DATABASE_URL", "postgres://app:app-password@db.internal/app")
    found = secret_values()
    assert {"a-key-of-the-crm", "postgres://app:app-password@db.internal/app", "app-password"} <= set(found)
    assert (
        Redactor(found).text("login app-password with a-key-of-the-crm") == "login [redacted] with [redacted]"
    )
