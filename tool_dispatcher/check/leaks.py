"""Leaks in an outcome: tracebacks, paths of the machine, secrets, and evidence of an injection. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from antiphon_shared.redaction.known_values import SECRET_CHARACTERS_MIN
from antiphon_shared.redaction.redactor import WELL_KNOWN
from pydantic_core import to_json

from tool_dispatcher.check.hostile import EVIDENCE

_BEGINNING_LENGTH = 24
_TRACEBACK = re.compile(
    r'Traceback \(most recent call last\)|File "[^"\n]{1,300}", line \d+|, line \d+, in \w'
)
_ROOTS = (
    "app|bin|code|data|etc|home|lib|lib64|mnt|opt|private|proc|root|run|srv|sys|tmp|usr|Users|var|workspace"
)
_PATHS = (
    re.compile(rf"(?<![\w.:/~%-])/(?:{_ROOTS})(?:/[\w.@+-]+)+"),
    re.compile(r"\b[A-Za-z]:\\[\w.-]+"),
    re.compile(r"site-packages/[\w./-]*"),
    re.compile(r"\[Errno \d+\][^:\n]*: '(/[^'\n]+)"),
)


@dataclass(frozen=True, slots=True)
class Leak:
    """A leak in an outcome."""

    kind: Literal["failure", "injection", "path", "secret"]
    what: str
    detail: str = ""


def leaks_in_error(texts: Iterable[str], known_text: str, secrets: Iterable[str]) -> Iterator[Leak]:
    """Yield the leaks in an error. The caller knows `known_text` already, so a path in it is not a leak."""
    text = "\n".join(texts)
    if _TRACEBACK.search(text):
        yield Leak("failure", "it shows a traceback")
    paths = (path.rstrip(".") for pattern in _PATHS for path in pattern.findall(text))
    if (path := next((path for path in paths if path not in known_text), None)) is not None:
        yield Leak("path", "it shows a path of the machine", path)
    yield from _secrets(text, known_text, secrets)


def leaks_in_data(data: object, secrets: Iterable[str]) -> Iterator[Leak]:
    """Yield the leaks in a result."""
    try:
        text = data if isinstance(data, str) else to_json(data).decode()
    except ValueError:
        yield Leak("failure", "its result cannot be written as JSON")
        return
    if "Traceback (most recent call last)" in text:
        yield Leak("failure", "its result holds a traceback")
    yield from (Leak("injection", meaning) for proof, meaning in EVIDENCE.items() if proof in text)
    if any(secret in text for secret in _beginnings(secrets)):
        yield Leak("secret", "its result shows a secret")


def _secrets(text: str, known_text: str, secrets: Iterable[str]) -> Iterator[Leak]:
    if any(secret in text for secret in _beginnings(secrets)):
        yield Leak("secret", "it shows a secret")
    elif WELL_KNOWN.text(text) != text and not WELL_KNOWN.suspects(known_text):
        yield Leak("secret", "it shows what looks like a credential")


def _beginnings(secrets: Iterable[str]) -> list[str]:
    """Return the beginnings of the secrets, as an error may be cut off; short secrets match by chance."""
    return [secret[:_BEGINNING_LENGTH] for secret in secrets if len(secret) >= SECRET_CHARACTERS_MIN]


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a JSON value of any depth, including keys."""
    todo = [value]
    while todo:
        match todo.pop():
            case str() as text:
                yield text
            case dict() as mapping:
                todo += (*mapping.keys(), *mapping.values())
            case list() as items:
                todo += items
