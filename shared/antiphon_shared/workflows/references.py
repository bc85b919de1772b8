"""References: `$name.path.0.field` in texts, and their values. Pure.

A text that is one reference keeps the type of its value; inside text the value is inserted as text.
`${name.path}` delimits, and accepts keys that are not plain words. `$$` is a dollar, and so is a `$` before
anything but a name or `{`. `$name?.path` is null when `name` has not succeeded; a `?` inside a text is a
question mark unless a path or a `}` follows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic_core import to_json

from antiphon_shared.text.excerpt import cut
from antiphon_shared.tools.placeholders import texts_in
from antiphon_shared.values import Json, JsonObject

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_PART = rf"(?:{_NAME}|[0-9]{{1,9}}(?![A-Za-z0-9_]))"
BARE = re.compile(rf"\$({_NAME})(\?(?=\.{_PART}))?((?:\.{_PART})*)")
"""A reference without braces."""
BRACED = re.compile(rf"\$\{{({_NAME})(\?)?((?:\.[^.{{}}$\s]+)*)\}}")
_REFERENCE = re.compile(rf"\$({_NAME})(\?)?((?:\.{_PART})*)")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_KEYS_MAX = 20
_LENGTH_MAX = 100


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of a param, an output or a node, and the path into its value."""

    name: str
    path: tuple[str | int, ...] = ()
    is_optional: bool = False
    """Whether it is null when `name` has not succeeded."""

    def __str__(self) -> str:
        text = ".".join(map(str, (f"{self.name}{'?' * self.is_optional}", *self.path)))
        is_plain = all(isinstance(part, int) or re.fullmatch(_NAME, part) for part in self.path)
        return f"${text}" if is_plain else f"${{{text}}}"


class MalformedReference(ValueError):
    """Raised for a text with `${` and no reference after it."""


class ReferenceMissing(LookupError):
    """Raised for a reference without a value; the message names the existing ones."""

    def __init__(self, reference: Reference, had: str) -> None:
        super().__init__(f"{reference} is missing: {had}")


class NotText(ValueError):
    """Raised for a reference inside a text whose value is a list or an object."""


UNRESOLVED = (ReferenceMissing, NotText, MalformedReference)
"""The errors of `resolve`."""


@dataclass(frozen=True, slots=True)
class Template:
    """A text with references in it: plain parts and references, in their order."""

    parts: tuple[str | Reference, ...]

    @property
    def single_reference(self) -> Reference | None:
        """Return the single reference that the text is; None for other texts."""
        return self.references[0] if len(self.parts) == len(self.references) == 1 else None

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(part for part in self.parts if isinstance(part, Reference))


def read_template(text: str) -> Template:
    """Return the parts of a text. Raises MalformedReference."""
    if reference := (_REFERENCE.fullmatch(text) or BRACED.fullmatch(text)):
        return Template((reference_of(reference),))
    parts: list[str | Reference] = []
    plain, at = "", 0
    while (dollar := text.find("$", at)) >= 0:
        plain += text[at:dollar]
        if text.startswith("$$", dollar):
            plain, at = f"{plain}$", dollar + 2
        elif match := (BARE.match(text, dollar) or BRACED.match(text, dollar)):
            parts += [plain, reference_of(match)] if plain else [reference_of(match)]
            plain, at = "", match.end()
        elif text.startswith("${", dollar):
            hint = "write ${name.path}, or $${ for the text itself"
            raise MalformedReference(f"{cut(text[dollar:], _LENGTH_MAX)!r} is not a reference; {hint}")
        else:
            plain, at = f"{plain}$", dollar + 1
    plain += text[at:]
    return Template((*parts, plain) if plain or not parts else tuple(parts))


def reference_of(match: re.Match[str]) -> Reference:
    """Return the reference in a match of BARE or BRACED."""
    path = tuple(int(part) if _INDEX.fullmatch(part) else part for part in match[3].split(".")[1:])
    return Reference(match[1], path, bool(match[2]))


def reference_in(text: str) -> Reference | None:
    """Return the reference that a text is; None for other texts."""
    match = BARE.fullmatch(text) or BRACED.fullmatch(text)
    return reference_of(match) if match else None


def templates(value: Json) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every text in JSON, at any depth, that holds a `$`, with its path."""
    return ((path, text) for path, text in texts_in(value) if "$" in text)


def resolve(value: Json, values: Mapping[str, Json]) -> Json:
    """Return JSON with its references replaced. `values` holds the available values by name.

    Raises ReferenceMissing, NotText and MalformedReference.
    """
    if isinstance(value, str):
        return _resolve_text(value, values) if "$" in value else value
    if isinstance(value, dict):
        return resolve_arguments(value, values)
    return [resolve(one, values) for one in value] if isinstance(value, list | tuple) else value


def resolve_arguments(arguments: JsonObject, values: Mapping[str, Json]) -> JsonObject:
    """Return the arguments of a call as `resolve` does."""
    return {name: resolve(one, values) for name, one in arguments.items()}


def look_up(reference: Reference, values: Mapping[str, Json]) -> Json:
    """Return the value of a reference. Raises ReferenceMissing."""
    if reference.name not in values:
        if reference.is_optional:
            return None
        had = f"nothing named {reference.name} has succeeded; there {_mapped(values, 'are', 'is nothing')}"
        raise ReferenceMissing(reference, had)
    value, way = values[reference.name], reference.name
    for part in reference.path:
        value = _inside(value, part, way, reference)
        way = f"{way}.{part}"
    return value


def _inside(value: Json, part: str | int, way: str, reference: Reference) -> Json:
    match value:
        case dict() if str(part) in value:
            return value[str(part)]
        case list() | tuple() if isinstance(part, int) and part < len(value):
            return value[part]
        case list() | tuple() | str() if part == "length":
            return len(value)
        case dict():
            had = _mapped(value, "has the keys", "has no keys")
        case list() | tuple():
            had = f"is a list of {len(value)}"
        case str():
            had = "is a text"
        case _:
            had = f"is {cut(to_json(value).decode(), _LENGTH_MAX)}"
    raise ReferenceMissing(reference, f"{way} {had}")


def _resolve_text(text: str, values: Mapping[str, Json]) -> Json:
    template = read_template(text)
    if reference := template.single_reference:
        return look_up(reference, values)
    return "".join(
        _as_text(part, look_up(part, values)) if isinstance(part, Reference) else part
        for part in template.parts
    )


def _as_text(reference: Reference, value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list | tuple):
        kind = "an object" if isinstance(value, dict) else "a list"
        raise NotText(f"{reference} is {kind} and is inside a text; refer to a value in it")
    return to_json(value).decode()


def _mapped(values: Mapping[str, Json], some: str, none: str) -> str:
    names = [cut(str(name), _LENGTH_MAX) for name, _ in zip(values, range(_KEYS_MAX), strict=False)]
    more = ", ..." if len(values) > _KEYS_MAX else ""
    return f"{some} {', '.join(names)}{more}" if names else none
