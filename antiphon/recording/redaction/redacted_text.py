"""Text without secrets, and which values have been found. Pure."""

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
"""Values of secret keys in schemas and examples: replaced where they stand, and left alone elsewhere."""
_SURE_CHARACTERS_MIN = 12
"""Of a value that stands in a text behind its key, and may be a word: a shorter one needs a digit."""
_PLACEHOLDER = re.compile(r"\[redacted(?: \d{1,9})?\]")
_NO_NAME = re.compile(r"[^A-Za-z0-9_.:-]+")


class TooManySecrets(AntiphonError):
    """More different values would have to be replaced than can be looked for."""

    code = "too_many_secrets"


class RedactedText:
    """Replaces in text what rules and known secrets name, and keeps the numbers of what was found."""

    def __init__(self, rules: Rules, secrets: KnownValues, keys: SecretKeys) -> None:
        self.keys = keys
        self.count = 0
        self.ordinary = set(_ORDINARY)
        """What is left alone elsewhere although it is somewhere the value of a secret key."""
        self._patterns = tuple(map(re.compile, rules.patterns))
        self._secrets = secrets
        self._numbers: dict[str, int] = {}
        self._repeated: dict[str, str] = {}
        self._finder: KnownValues | None = None
        self._is_learning = False

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Values are found, and nothing counts as replaced."""
        count, self._is_learning = self.count, True
        try:
            yield
        finally:
            self.count, self._is_learning = count, False

    def suspects(self, raw: bytes) -> bool:
        """Whether a secret, or the form of one, may stand in JSON; `False` is certain."""
        return self.suspects_known(raw) or WELL_KNOWN.suspects(raw.decode())

    def suspects_known(self, raw: bytes) -> bool:
        """Whether a secret that is known, or was found before, may stand in JSON; `False` is certain."""
        text = raw.decode()
        return self._secrets.suspects(text) or self._found_before.suspects(text)

    def text(self, text: str) -> str:
        """`text` without what is secret in it; the same object where there is nothing."""
        clean = self._without_patterns(text) if self._patterns else text
        if self.keys.suspects(clean):
            clean = self.keys.in_text(clean, self._found_in_text)
        if self._is_learning:
            return text
        clean = self._found_before.replaced(self._secrets.replaced(clean, self._counted), self._counted)
        known = WELL_KNOWN.text(clean)
        if known is not clean:
            self.count += max(1, known.count(REDACTED) - clean.count(REDACTED))
        return text if known == text else known

    def name(self, name: str) -> str:
        """The same where only letters, digits, `-` and the like may stand."""
        clean = self.text(name)
        return name if clean is name else as_name(clean)

    def placeholder(self, value: str) -> str:
        """What stands for all of a value, and from now on wherever it is repeated. Raises TooManySecrets."""
        return self._placeholder(value, is_repeated=True)

    def is_known(self, value: str) -> bool:
        """Whether it has been found to be secret."""
        return value in self._repeated

    @property
    def _found_before(self) -> KnownValues:
        if self._finder is None:
            self._finder = KnownValues(self._repeated, as_words=True)
        return self._finder

    def _without_patterns(self, text: str) -> str:
        """What was replaced before is left alone: a pattern of digits would find its number."""
        for pattern in self._patterns:
            pieces = _PLACEHOLDER.split(text)
            between = _PLACEHOLDER.findall(text)
            clean = [pattern.sub(lambda match: self.placeholder(match[0]), piece) for piece in pieces]
            text = "".join(
                piece + placeholder for piece, placeholder in zip(clean, [*between, ""], strict=True)
            )
        return text

    def _found_in_text(self, value: str) -> str:
        is_sure = len(value) >= _SURE_CHARACTERS_MIN or any(sign.isdigit() for sign in value)
        return self._placeholder(value, is_sure)

    def _placeholder(self, value: str, is_repeated: bool) -> str:
        if not value or _PLACEHOLDER.fullmatch(value):
            return value
        if value not in self._numbers and len(self._numbers) == VALUES_MAX:
            raise TooManySecrets(
                f"More than {VALUES_MAX:,} different values of one session are to be replaced.",
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
    """A text in the letters of a name: `[redacted 3]` is `redacted-3`."""
    return _NO_NAME.sub("-", text).strip("-") or "redacted"
