"""The operator's settings for the redaction of recordings."""

import re
from typing import Annotated, Any

from antiphon_shared.process.settings import Settings, comma_list, load
from antiphon_shared.redaction.secret_keys import ALWAYS
from antiphon_shared.redaction.secret_values import secret_values
from pydantic import AfterValidator, Field
from pydantic_settings import SettingsConfigDict

from antiphon.recording.lines import Rules
from antiphon.recording.redaction.json_paths import Path, UnreadablePath
from antiphon.recording.redaction.redact import Redaction
from reasoning_engine.exchange_record import RECORDED_HEADERS, RECORDED_PREFIXES

HEADERS = (*RECORDED_HEADERS, *(f"{prefix}*" for prefix in RECORDED_PREFIXES))
"""The headers of a model server that an engine keeps."""
_KEY = r"[A-Za-z0-9_.*-]{1,100}"


def _each_readable(read: Any, fault: type[Exception]) -> AfterValidator:
    """Return a validator that refuses unreadable values with the message of the reader."""

    def check(values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            try:
                read(value)
            except fault as error:
                raise ValueError(f"{value[:100]!r}: {error}") from None
        return values

    return AfterValidator(check)


class RecordingSettings(Settings):
    """The redaction of an export: `ANTIPHON_RECORDING_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_RECORDING_")
    section = "recording"

    headers: Annotated[tuple[str, ...], *comma_list("a header", r"[A-Za-z0-9-]{1,100}\*?")] = Field(
        default=HEADERS,
        description="Comma list of a model server's headers that recordings keep; `x-*` matches a prefix.",
    )
    keys: Annotated[tuple[str, ...], *comma_list("a key", _KEY)] = Field(
        default=(),
        description="Comma list of further keys whose values are replaced, such as `*phone*`; "
        "docs/redaction.md lists the built-in keys.",
    )
    keys_kept: Annotated[tuple[str, ...], *comma_list("a key", _KEY)] = Field(
        default=(),
        description="Comma list of keys whose values are not replaced; it overrides all other rules.",
    )
    paths: Annotated[
        tuple[str, ...], *comma_list("a path", r"\$.{1,500}"), _each_readable(Path.of, UnreadablePath)
    ] = Field(
        default=(),
        description="Comma list of JSON paths whose values are replaced, such as `$..email`; see docs/redaction.md.",
    )
    patterns: Annotated[tuple[str, ...], _each_readable(re.compile, re.error)] = Field(
        default=(), description="List of regular expressions; their matches in texts are replaced."
    )

    @property
    def rules(self) -> Rules:
        """Return all rules of an export."""
        exceptions = (f"!{key}" for key in self.keys_kept)
        return Rules(
            headers=self.headers,
            keys=tuple(dict.fromkeys((*ALWAYS, *self.keys, *exceptions))),
            paths=self.paths,
            patterns=self.patterns,
        )


def own_redaction() -> Redaction:
    """Return the redaction of this process's settings, with its secrets. Raises ConfigurationError."""
    return Redaction.of(load(RecordingSettings).rules, secret_values())
