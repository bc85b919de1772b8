"""The addresses of the receivers, and the secret for signatures."""

from typing import Annotated

from pydantic import BeforeValidator, Field, HttpUrl, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


def _listed(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class WebhookSettings(BaseSettings):
    """Settings from the environment, as `WEBHOOK_<NAME>`. Only the sender needs the addresses, a comma list."""

    model_config = SettingsConfigDict(env_prefix="WEBHOOK_", env_ignore_empty=True, hide_input_in_errors=True)

    secret: SecretStr = Field(min_length=12)
    urls: Annotated[tuple[HttpUrl, ...], NoDecode, BeforeValidator(_listed)] = ()


def configured() -> WebhookSettings:
    """Return the settings of this process. Raises ValidationError, which does not show them."""
    return WebhookSettings()
