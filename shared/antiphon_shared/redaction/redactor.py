"""Text and JSON without secrets: the one way in. Pure.

Taken out are the secrets that are known, what looks like a credential, and with `keys` also what stands behind a secret
key. A structure is searched in one go as JSON: where there is nothing to find, that is all it costs.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from antiphon_shared.redaction.known_values import SECRET_CHARACTERS_MIN, KnownValues

if TYPE_CHECKING:  # dozens of expressions, which are compiled when the first text is looked at
    from antiphon_shared.redaction.credentials import Found
    from antiphon_shared.redaction.secret_keys import SecretKeys

REDACTED = "[redacted]"
MARKED_CHARACTERS_MIN = 4
"""The shortest value that is looked for where an author has marked an argument: a PIN is short, and only its own call
is searched for it."""
KNOWN = "known_secret"
_TOO_DEEP = "[redacted: nested too deep to be looked through]"
_DEPTH_MAX = 200
_HEADERS = ("authorization", "proxy-authorization")


class Redactor:
    """Takes secrets out of text and JSON.

    `values` are what must never be seen, such as passwords; `keys` the patterns of keys whose values must not either.
    """

    def __init__(
        self,
        values: Iterable[str] = (),
        characters_min: int = SECRET_CHARACTERS_MIN,
        keys: tuple[str, ...] = (),
    ) -> None:
        self._known = KnownValues(dict.fromkeys(values, REDACTED), characters_min=characters_min)
        self._patterns = keys

    @cached_property
    def _keys(self) -> "SecretKeys | None":
        """Made when the first text is looked at: a command that logs nothing need not wait for it."""
        from antiphon_shared.redaction.secret_keys import secret_keys

        return secret_keys(self._patterns) if self._patterns else None

    def text(self, text: str) -> str:
        """`text` without secrets; the same object when there is none."""
        clean = self._known.replaced(text)
        if self._keys is not None and self._keys.suspects(clean):
            clean = self._keys.in_text(clean, lambda _: REDACTED)
        clean = without_credentials(clean)
        return text if clean == text else clean

    def json(self, value: Any) -> Any:
        """A JSON value without secrets, in keys as well; the same object when there is none.

        What is nested deeper than 200 levels is left out whole.
        """
        try:
            is_clean = not self.suspects(orjson.dumps(value).decode())
        except (TypeError, ValueError):  # lone surrogates, integers beyond 64 bits, very deep
            is_clean = False
        return value if is_clean else self._json(value, 0)

    def found(self, text: str) -> Iterator[tuple[str, str]]:
        """Kind and value of the secrets in `text`, as they stand there, but for those behind keys."""
        yield from ((KNOWN, value) for value in self._known.found(text))
        yield from ((one.kind, text[one.start : one.end]) for one in _credentials(text))

    def suspects(self, text: str) -> bool:
        """Whether there may be something to redact; `False` is certain, for the text of JSON as well."""
        return (
            self._known.suspects(text)
            or bool(_credentials(text))
            or (self._keys is not None and self._keys.suspects(text))
        )

    def _json(self, value: Any, depth: int) -> Any:
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

    def _behind(self, key: str, value: Any) -> Any:
        """The text behind a key, read as it would be in a header's line where the key is a header's name."""
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


def _credentials(text: str) -> "list[Found]":
    from antiphon_shared.redaction.credentials import credentials

    return credentials(text)


def without_credentials(text: str) -> str:
    """`text` without what looks like a credential; the same object when there is none."""
    parts: list[str] = []
    done = 0
    for start, end, _ in _credentials(text):
        parts += (text[done:start], REDACTED)
        done = end
    return "".join((*parts, text[done:])) if parts else text


def free_key(key: Any, taken: dict[Any, Any]) -> Any:
    """A key that is not taken: two redacted keys of one object may look alike, and nothing is to be lost."""
    n, free = 1, key
    while free in taken:
        n += 1
        free = f"{key} {n}"
    return free


WELL_KNOWN = Redactor()
"""Knows no secret value; only what credentials look like."""
