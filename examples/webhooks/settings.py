"""Where events are sent, and what they are signed with."""

from pydantic import Field, HttpUrl, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class WebhookSettings(BaseSettings):
    """From the environment, as `WEBHOOK_<NAME>`. The address is needed by the sender alone."""

    model_config = SettingsConfigDict(env_prefix="WEBHOOK_", env_ignore_empty=True, hide_input_in_errors=True)

    secret: SecretStr = Field(min_length=12)
    url: HttpUrl | None = None


def configured() -> WebhookSettings:
    """The settings of this process. Raises ValidationError, which does not show them."""
    return WebhookSettings()
