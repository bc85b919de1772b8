"""Text and JSON without secrets: the entry of this package. Pure.

It removes the known secrets, credentials, and with `keys` the values of secret keys. A structure is first
searched as JSON: without a match, that is the only cost.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from antiphon_shared.redaction.known_values import SECRET_CHARACTERS_MIN, KnownValues

if TYPE_CHECKING:  # dozens of expressions, which are compiled on first use
    from antiphon_shared.redaction.credentials import FoundSecret
    from antiphon_shared.redaction.secret_keys import SecretKeys

REDACTED = "[redacted]"
MARKED_CHARACTERS_MIN = 4
"""The least length of a value that is searched for because its author marked the argument. Such a value may
be short, as a PIN is; only its own call is searched.
"""
KNOWN = "known_secret"
_TOO_DEEP = "[redacted: nested too deep to be looked through]"
_DEPTH_MAX = 200
_HEADERS = ("authorization", "proxy-authorization")


class Redactor:
    """A filter that removes secrets from text and JSON.

    `values` are secrets, such as passwords; `keys` are the patterns of keys whose values are secret.
    """

    def __init__(
        self,
        values: Iterable[str] = (),
        characters_min: int = SECRET_CHARACTERS_MIN,
        keys: tuple[str, ...] = (),
    ) -> None:
        self._known_values = KnownValues(dict.fromkeys(values, REDACTED), characters_min=characters_min)
        self._patterns = keys

    @cached_property
    def _keys(self) -> "SecretKeys | None":
        """Return the secret keys, compiled on first use, so that a command without logs does not wait for them."""
        from antiphon_shared.redaction.secret_keys import secret_keys

        return secret_keys(self._patterns) if self._patterns else None

    def text(self, text: str) -> str:
        """Return `text` without secrets; the same object if it has no secrets."""
        clean = self._known_values.replaced(text)
        if self._keys is not None and self._keys.suspects(clean):
            clean = self._keys.in_text(clean, lambda _: REDACTED)
        clean = without_credentials(clean)
        return text if clean == text else clean

    def json(self, value: object) -> Any:
        """Return a JSON value without secrets, also in its keys; the same object if it has no secrets.

        A value below 200 levels is replaced as a whole.
        """
        try:
            is_clean = not self.suspects(orjson.dumps(value).decode())
        except (TypeError, ValueError):  # lone surrogates, integers beyond 64 bits, very deep
            is_clean = False
        return value if is_clean else self._json(value, 0)

    def find_secrets(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield kind and value of the secrets in `text`, as they are written there, except values of secret keys."""
        yield from ((KNOWN, value) for value in self._known_values.find_in(text))
        yield from ((one.kind, text[one.start : one.end]) for one in _credentials(text))

    def suspects(self, text: str) -> bool:
        """Return whether a text, or the text of JSON, may contain a secret; False is certain."""
        return (
            self._known_values.suspects(text)
            or bool(_credentials(text))
            or (self._keys is not None and self._keys.suspects(text))
        )

    def _json(self, value: object, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict | list | tuple):
            return value
        if depth >= _DEPTH_MAX:
            return _TOO_DEEP
        return self._object(value, depth) if isinstance(value, dict) else self._list(value, depth)

    def _object(self, value: dict[Any, Any], depth: int) -> dict[Any, Any]:
        clean: dict[Any, Any] = {}
        is_changed = False
        for key, item in value.items():
            new_key = self.text(key) if isinstance(key, str) else key
            new_item = self._json(item, depth + 1)
            if isinstance(key, str) and isinstance(item, str | list):
                new_item = self._behind(key, new_item)
            is_changed = is_changed or new_key is not key or new_item is not item
            clean[free_key(new_key, clean)] = new_item
        return clean if is_changed else value

    def _list(self, value: Sequence[Any], depth: int) -> Sequence[Any]:
        clean = [self._json(item, depth + 1) for item in value]
        is_same = all(new is old for new, old in zip(clean, value, strict=True))
        return value if is_same else clean

    def _behind(self, key: str, value: object) -> Any:
        """Return the value of a key, read as a header's line when the key is a header's name."""
        if isinstance(value, list):
            return [self._behind(key, one) for one in value] if self._keys is not None else value
        if not isinstance(value, str):
            return value
        if self._keys is not None and self._keys.hides(key, value):
            return REDACTED
        if key.lower() not in _HEADERS:
            return value
        name = "Authorization: "
        clean = self.text(name + value).removeprefix(name)
        return value if clean == value else clean


def _credentials(text: str) -> "list[FoundSecret]":
    from antiphon_shared.redaction.credentials import credentials

    return credentials(text)


def without_credentials(text: str) -> str:
    """Return `text` without credentials; the same object if it has no credentials."""
    parts: list[str] = []
    done = 0
    for start, end, _ in _credentials(text):
        parts += (text[done:start], REDACTED)
        done = end
    return "".join((*parts, text[done:])) if parts else text


def free_key(key: object, taken: dict[Any, Any]) -> Any:
    """Return a free key: two redacted keys of one object may be equal, and no value may be lost."""
    n, free = 1, key
    while free in taken:
        n += 1
        free = f"{key} {n}"
    return free


WELL_KNOWN = Redactor()
"""A redactor that knows no secret value, only the forms of credentials."""
