"""The JSON paths of redaction rules. Pure.

    $.data.query                  the value at a place; `$` is the event, the record, the catalogue or the content
    $.data.results[*].data.email  `[*]` is every item of a list, `.*` every value of an object, `[0]` the first item
    $..email                      a key anywhere
    $.data["e-mail"]              a name with other signs than letters, digits, `_` and `-`

This is a part of RFC 9535, without filters, slices and unions.
"""

import re
from dataclasses import dataclass

_STEP = re.compile(
    r"""(?P<anywhere>\.\.)?(?:
        (?(anywhere)|\.)(?P<name>[\w-]+|\*)
        |\[(?P<index>\d{1,9}|\*)\]
        |\["(?P<quoted>[^"\\]{1,200})"\]|\['(?P<single>[^'\\]{1,200})'\]
    )""",
    re.VERBOSE,
)
_STEPS_MAX = 50


class UnreadablePath(ValueError):
    """The text is not a path, or uses syntax that is not supported here."""


@dataclass(frozen=True, slots=True)
class _Step:
    key: str | int | None
    """None for any."""
    is_anywhere: bool


@dataclass(frozen=True, slots=True)
class Path:
    """The remaining steps of a path."""

    steps: tuple[_Step, ...]
    is_loose: bool = False
    """Whether it was reached by a key anywhere."""

    @classmethod
    def of(cls, text: str) -> "Path":
        """Read a path. Raises UnreadablePath, which says where it stops being valid."""
        if not text.startswith("$"):
            raise UnreadablePath("a path begins with `$`, for example `$.data.results[*].data.email`.")
        steps: list[_Step] = []
        at = 1
        while at < len(text):
            step = _STEP.match(text, at)
            if step is None or len(steps) == _STEPS_MAX:
                raise UnreadablePath(
                    f"invalid at {text[at : at + 30]!r}; a step is `.name`, `..name`, `[*]`, `[0]` or "
                    '`["a name"]`.'
                )
            steps.append(_Step(_key(step), step["anywhere"] is not None))
            at = step.end()
        if not steps:
            raise UnreadablePath("it matches everything.")
        return cls(tuple(steps))

    @classmethod
    def along(cls, keys: tuple[str | int, ...]) -> "Path":
        """Return the path through those keys; `*` is any."""
        return cls(tuple(_Step(None if key == "*" else key, is_anywhere=False) for key in keys))

    @property
    def is_reached(self) -> bool:
        return not self.steps

    @property
    def last_name(self) -> str | None:
        """Return the last key of the path, which a value must have to match, or None."""
        return next((step.key for step in reversed(self.steps) if isinstance(step.key, str)), None)


def below(paths: tuple[Path, ...], key: str | int) -> tuple[Path, ...]:
    """Return the rest of each path after `key`, without the paths that do not match."""
    remaining: dict[Path, None] = {}
    for path in paths:
        if path.is_reached:
            continue
        step = path.steps[0]
        if step.key is None or step.key == key:
            remaining[Path(path.steps[1:], path.is_loose or step.is_anywhere)] = None
        if step.is_anywhere:
            remaining[path] = None
    return tuple(remaining)


def _key(step: "re.Match[str]") -> str | int | None:
    if (index := step["index"]) is not None:
        return None if index == "*" else int(index)
    if step["name"] is not None:
        return None if step["name"] == "*" else step["name"]
    return step["quoted"] or step["single"]
