"""The JSON paths of redaction rules. Pure.

    $.data.query                  one value; `$` is the event, the record, the catalogue or the content
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
    """The key; None for any key."""
    is_anywhere: bool


@dataclass(frozen=True, slots=True)
class Path:
    """The remaining steps of a path."""

    steps: tuple[_Step, ...]
    is_loose: bool = False
    """Whether an earlier step was `..`, which matches a key anywhere."""

    @classmethod
    def of(cls, text: str) -> "Path":
        """Read a path. Raises UnreadablePath, which quotes the invalid part."""
        if not text.startswith("$"):
            raise UnreadablePath("a path begins with `$`, for example `$.data.results[*].data.email`.")
        steps: list[_Step] = []
        offset = 1
        while offset < len(text):
            step = _STEP.match(text, offset)
            if step is None or len(steps) == _STEPS_MAX:
                raise UnreadablePath(
                    f"invalid at {text[offset : offset + 30]!r}; a step is `.name`, `..name`, `[*]`, `[0]` or "
                    '`["a name"]`.'
                )
            steps.append(_Step(_key(step), step["anywhere"] is not None))
            offset = step.end()
        if not steps:
            raise UnreadablePath("it matches everything.")
        return cls(tuple(steps))

    @classmethod
    def along(cls, keys: tuple[str | int, ...]) -> "Path":
        """Return the path through these keys; `*` is any key."""
        return cls(tuple(_Step(None if key == "*" else key, is_anywhere=False) for key in keys))

    @property
    def is_reached(self) -> bool:
        return not self.steps

    @property
    def last_name(self) -> str | None:
        """Return the last key of the path that is a name, which a matching value must have; None without such a key."""
        return next((step.key for step in reversed(self.steps) if isinstance(step.key, str)), None)


def remaining_paths(paths: tuple[Path, ...], key: str | int) -> tuple[Path, ...]:
    """Return the remaining steps of each path that `key` matches."""
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
