"""Documents with one thing in them changed: each part left out once, and replaced by values that hardly ever fit."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

ODD: tuple[Any, ...] = (None, "odd", -1, [], {"odd": 1})
_NAME = "{} = {}"


def variants(document: Any, odd: tuple[Any, ...] = ODD) -> dict[str, Any]:
    """Return the document unchanged and every variant of it, by the changed part."""
    found = {"as it is": document}
    for path in _paths(document):
        name = ".".join(map(str, path))
        found[f"without {name}"] = _changed(document, path)
        for value in odd:
            found[_NAME.format(name, json.dumps(value))] = _changed(document, path, value)
        if isinstance(path[-1], str):
            other = deepcopy(document)
            owner = _owner(other, path)
            owner[f"{path[-1]}x"] = owner.pop(path[-1])
            found[f"{name} misspelt"] = other
    return found


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    places: Any = (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    )
    for key, inner in places:
        yield from _paths(inner, (*path, key))


_LEFT_OUT = object()


def _changed(document: Any, path: tuple[str | int, ...], value: Any = _LEFT_OUT) -> Any:
    changed = deepcopy(document)
    owner = _owner(changed, path)
    if value is _LEFT_OUT:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return changed


def _owner(document: Any, path: tuple[str | int, ...]) -> Any:
    for key in path[:-1]:
        document = document[key]
    return document
