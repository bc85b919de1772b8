"""The redaction of text, and the values found so far. Pure."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.redaction.known_values import SECRET_CHARACTERS_MIN, KnownValues
from antiphon_shared.redaction.redactor import REDACTED, WELL_KNOWN
from antiphon_shared.redaction.secret_keys import SecretKeys

from antiphon.recording.lines import Rules

VALUES_MAX = 10_000

_ORDINARY = frozenset(
    ("array", "boolean", "default", "integer", "number", "object", "password", "required", "secret", "string")
)
"""Values of secret keys in schemas and examples, which are only replaced under their key."""
_CERTAIN_CHARACTERS_MIN = 12
"""The length from which a value after a key in a text is certainly a secret; a shorter one needs a digit."""
_PLACEHOLDER = re.compile(r"\[redacted(?: \d{1,9})?\]")
_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_.:-]+")


class TooManySecrets(AntiphonError):
    """A session has too many different values to replace."""

    code = "too_many_secrets"


class RedactedText:
    """The redaction of text by rules and known secrets, with a number for each found value."""

    def __init__(self, rules: Rules, secrets: KnownValues, keys: SecretKeys) -> None:
        self.keys = keys
        self.count = 0
        self.ordinary = set(_ORDINARY)
        """The values that are only replaced under a secret key."""
        self._patterns = tuple(map(re.compile, rules.patterns))
        self._secrets = secrets
        self._numbers: dict[str, int] = {}
        self._repeated: dict[str, str] = {}
        self._finder: KnownValues | None = None
        self._is_learning = False

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Find values in the block, without counting replacements."""
        count, self._is_learning = self.count, True
        try:
            yield
        finally:
            self.count, self._is_learning = count, False

    def suspects(self, text: str) -> bool:
        """Return whether JSON may contain a secret or a text in the form of one; only `False` is certain."""
        return self.may_contain_secret(text) or WELL_KNOWN.suspects(text)

    def may_contain_secret(self, text: str) -> bool:
        """Return whether JSON may contain a known or found secret; only `False` is certain."""
        return self._secrets.suspects(text) or self._earlier_secrets.suspects(text)

    def text(self, text: str) -> str:
        """Return `text` without its secrets; the same object if it has no secrets."""
        clean = self._without_patterns(text) if self._patterns else text
        if self.keys.suspects(clean):
            clean = self.keys.in_text(clean, self._new_placeholder)
        if self._is_learning:
            return text
        clean = self._earlier_secrets.replaced(self._secrets.replaced(clean, self._counted), self._counted)
        known = WELL_KNOWN.text(clean)
        if known is not clean:
            self.count += max(1, known.count(REDACTED) - clean.count(REDACTED))
        return text if known == text else known

    def name(self, name: str) -> str:
        """Return a redacted name, in the characters of a name."""
        clean = self.text(name)
        return name if clean is name else as_name(clean)

    def placeholder(self, value: str) -> str:
        """Return the placeholder for a value, which then replaces the value everywhere. Raises TooManySecrets."""
        return self._placeholder(value, is_repeated=True)

    def is_known(self, value: str) -> bool:
        """Return whether the value was found to be secret."""
        return value in self._repeated

    @property
    def _earlier_secrets(self) -> KnownValues:
        if self._finder is None:
            self._finder = KnownValues(self._repeated, as_words=True)
        return self._finder

    def _without_patterns(self, text: str) -> str:
        """Replace matches of the patterns outside placeholders, whose numbers a pattern of digits would match."""
        for pattern in self._patterns:
            pieces = _PLACEHOLDER.split(text)
            between = _PLACEHOLDER.findall(text)
            clean = [pattern.sub(lambda match: self.placeholder(match[0]), piece) for piece in pieces]
            text = "".join(
                piece + placeholder for piece, placeholder in zip(clean, [*between, ""], strict=True)
            )
        return text

    def _new_placeholder(self, value: str) -> str:
        is_sure = len(value) >= _CERTAIN_CHARACTERS_MIN or any(sign.isdigit() for sign in value)
        return self._placeholder(value, is_sure)

    def _placeholder(self, value: str, is_repeated: bool) -> str:
        if not value or _PLACEHOLDER.fullmatch(value):
            return value
        if value not in self._numbers and len(self._numbers) == VALUES_MAX:
            raise TooManySecrets(
                f"The redaction rules match more than {VALUES_MAX:,} different values of one session.",
                hint="Name fewer keys, paths and patterns in ANTIPHON_RECORDING_*.",
            )
        placeholder = f"[redacted {self._numbers.setdefault(value, len(self._numbers) + 1)}]"
        is_long = len(value.strip()) >= SECRET_CHARACTERS_MIN
        if is_repeated and is_long and value.lower() not in self.ordinary and value not in self._repeated:
            self._repeated[value] = placeholder
            self._finder = None
        return self._counted(placeholder)

    def _counted(self, placeholder: str) -> str:
        self.count += 1
        return placeholder


def as_name(text: str) -> str:
    """Return a text in the characters of a name: `[redacted 3]` becomes `redacted-3`."""
    return _OTHER_CHARACTERS.sub("-", text).strip("-") or "redacted"
