"""The rules that a line must keep. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .lines import ComponentDetails, Kind, Line, Problem, Setting

_TYPE_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float)}
_ORDER: dict[Kind, int] = {"trigger": 0, "source": 1, "filter": 2, "action": 3}


def missing(line: Line, catalogue: Mapping[str, ComponentDetails]) -> list[Problem]:
    """Return a problem for each component that does not exist and each required setting that is missing."""
    return list(_missing(line, catalogue))


def problems(line: Line, catalogue: Mapping[str, ComponentDetails]) -> list[Problem]:
    """Return every problem of a line: what is missing, values that do not fit, and components out of order."""
    return [*_missing(line, catalogue), *_misfits(line, catalogue), *_disorder(line, catalogue)]


def with_defaults(line: Line, catalogue: Mapping[str, ComponentDetails]) -> Line:
    """Return the line with the defaults of all settings that were left out."""
    parts = []
    for part in line.parts:
        known = catalogue.get(part.component)
        defaults = (
            {one.name: one.default for one in known.settings if one.default is not None} if known else {}
        )
        parts.append(part.model_copy(update={"settings": {**defaults, **part.settings}}))
    return line.model_copy(update={"parts": parts})


def _missing(line: Line, catalogue: Mapping[str, ComponentDetails]) -> Iterator[Problem]:
    for place, part in enumerate(line.parts):
        known = catalogue.get(part.component)
        if known is None:
            yield Problem(
                property=f"parts.{place}.component", message=f"There is no component '{part.component}'"
            )
            continue
        for setting in known.settings:
            if setting.required and setting.name not in part.settings:
                yield Problem(
                    property=f"parts.{place}.settings.{setting.name}",
                    message=f"Required field '{setting.name}' is missing",
                )


def _misfits(line: Line, catalogue: Mapping[str, ComponentDetails]) -> Iterator[Problem]:
    for place, part in enumerate(line.parts):
        if (known := catalogue.get(part.component)) is None:
            continue
        settings = {one.name: one for one in known.settings}
        for name, value in part.settings.items():
            path = f"parts.{place}.settings.{name}"
            if name not in settings:
                yield Problem(property=path, message=f"'{part.component}' has no setting '{name}'")
            elif message := misfit(value, settings[name]):
                yield Problem(property=path, message=message)


def misfit(value: Any, setting: Setting) -> str:
    """Return why a value does not fit its setting; an empty text when it fits."""
    if not _is_of(setting.type, value):
        return f"{value!r} is not {_TYPE_NAMES[setting.type]}"
    if setting.choices and value not in setting.choices:
        return f"{value!r} is none of {', '.join(setting.choices)}"
    if setting.pattern and not re.fullmatch(setting.pattern, value):
        return f"{value!r} does not match {setting.pattern}"
    if setting.minimum is not None and value < setting.minimum:
        return f"{value} is less than {setting.minimum:g}"
    if setting.maximum is not None and value > setting.maximum:
        return f"{value} is more than {setting.maximum:g}"
    return ""


def _is_of(type: str, value: Any) -> bool:
    if isinstance(value, bool):
        return type == "boolean"
    return type != "boolean" and isinstance(value, _TYPES[type])


def _disorder(line: Line, catalogue: Mapping[str, ComponentDetails]) -> Iterator[Problem]:
    kinds = [catalogue[part.component].kind for part in line.parts if part.component in catalogue]
    for kind in ("trigger", "source"):
        if kinds.count(kind) != 1:
            yield Problem(property="parts", message=f"A line has one {kind}, this one {kinds.count(kind)}")
    if "action" not in kinds:
        yield Problem(property="parts", message="A line ends with an action, this one has none")
    if kinds != sorted(kinds, key=_ORDER.__getitem__):
        yield Problem(
            property="parts",
            message=f"The order is trigger, source, filters, actions, and not {', '.join(kinds)}",
        )
