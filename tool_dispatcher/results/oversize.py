"""Results that are too large to be shown whole: the part that is shown, and how the rest is read. Pure.

The whole is stored as JSON under a handle. The part keeps the shape of the result if possible, and a note states
how much of the result it is:

    text                                       its beginning, and a note below
    a list                                     its first items, and a note as the last
    an object around one long list or text     the object, with the first part of that, and a note as a field
    any other value                            the beginning of its JSON text, and a note below
"""

from dataclasses import dataclass

from antiphon_shared.process.offload import json_of
from antiphon_shared.values import Json, JsonObject
from pydantic_core import from_json, to_json

_PATH_MAX = 6
"""The depth to which an object is searched for its long list or text."""
_NAME_CHARACTERS_MAX = 80
_SEPARATORS = ("\n\n", "\n", ". ", " ")
_SHARE_MIN = 0.8
"""A cut moves back to the end of a paragraph, line, sentence or word if at least this share remains."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The shown part of a result."""

    data: Json
    whole: bytes | None = None
    """The result as JSON, to be stored under the handle; None if all of it is shown."""


def fit_data(data: Json, bytes_max: int, handle: str) -> Fitted:
    """Return the data if it has at most `bytes_max` bytes as JSON; else a part of that size, and the whole.

    Raises ValueError if the data cannot be written as JSON.
    """
    complete = json_of(data)
    if len(complete) <= bytes_max:
        return Fitted(data)
    if isinstance(data, str):
        return Fitted(_text(data, "", bytes_max, handle), complete)
    part = _with_long_part_cut(data, complete, bytes_max, handle)
    if part is None:
        part = _text(complete.decode(), " of its JSON", bytes_max, handle)
    return Fitted(part, complete)


def read_part(result: bytes, start: int, length: int, bytes_max: int) -> JsonObject:
    """Return `length` characters of a whole from `start`: of its text if it is a text, otherwise of its JSON.

    The part is shorter at the end of the whole, or if its JSON would be larger than `bytes_max`; the field `end`
    is the position where it ends.
    """
    text: str = from_json(result) if result.startswith(b'"') else result.decode()
    start = min(max(0, start), len(text))
    part = text[start : start + max(0, length)]
    read: JsonObject = {"text": "", "start": start, "end": len(text), "total_characters": len(text)}
    part = _beginning(part, bytes_max - len(to_json(read))) or part[:1]
    return {**read, "text": part, "end": start + len(part)}


@dataclass(frozen=True, slots=True)
class _Long:
    """The one long part of a result."""

    path: tuple[str | int, ...]
    content: Json
    start: int
    """The position of its beginning in the JSON text of the whole, in characters."""


def _with_long_part_cut(data: Json, complete: bytes, bytes_max: int, handle: str) -> Json | None:
    """Return the result with its long part cut; None if it has no long part, or if nothing of it fits."""
    long = _long_part(data)
    content = long.content
    if not isinstance(content, list | str):
        return None
    unit = "characters" if isinstance(content, str) else "items"
    name = f' of "{".".join(map(str, long.path))[:_NAME_CHARACTERS_MAX]}"' if long.path else ""

    def shown(kept: list[Json] | str, start: int, count: int) -> Json:
        note = _note(f"{count} of {len(content)} {unit}{name}", handle, start)
        return _with_note(data, long.path, kept, note)

    frame = shown(content[:0], len(complete), len(content))  # its numbers have as many digits as any
    space_bytes = bytes_max - len(to_json(frame))
    kept = (
        _beginning(content, space_bytes) if isinstance(content, str) else _first_items(content, space_bytes)
    )
    if not kept:
        return None
    # Next comes the comma before the next item, or the rest of the text without its closing quote.
    length = _characters(kept) - (1 if isinstance(content, str) else 0)
    return shown(kept, long.start + length, len(kept))


def _long_part(data: Json) -> _Long:
    """Return the long part: follow the largest member of each object, and the only item of a list in it."""
    path: list[str | int] = []
    start = 0
    while len(path) < _PATH_MAX:
        if path and isinstance(data, list) and len(data) == 1:
            path.append(0)
            data, start = data[0], start + 1
            continue
        if not isinstance(data, dict) or not data:
            break
        members = {key: json_of(value) for key, value in data.items()}
        longest = max(members, key=lambda key: len(members[key]))
        for key, value in members.items():
            start += _characters(key) + 2  # the brace or comma before it, the colon after it
            if key == longest:
                break
            start += len(value.decode())
        path.append(longest)
        data = data[longest]
    return _Long(tuple(path), data, start)


def _first_items(items: list[Json], space_bytes: int) -> list[Json]:
    count = 0
    for item in items:
        space_bytes -= len(to_json(item)) + 1
        if space_bytes < 0:
            break
        count += 1
    return items[:count]


def _with_note(data: Json, path: tuple[str | int, ...], shown: Json, note: str) -> Json:
    """Return the data with its long part replaced, and with the note as an item of a list or a field of an object."""
    if path:
        replaced, name = _replaced(data, path, shown), "note"
        assert isinstance(replaced, dict), "a path begins in an object"
        while name in replaced:
            name = f"_{name}"
        return {**replaced, name: note}
    assert isinstance(data, list), "only lists and objects have a long part"
    assert isinstance(shown, list), "it is that list"
    # In a list of records the note is a record too, as the items are filed one by one.
    return [*shown, {"note": note} if isinstance(data[0], dict) else note]


def _replaced(data: Json, path: tuple[str | int, ...], content: Json) -> Json:
    if not path:
        return content
    key, *below = path
    if isinstance(data, list):
        return [_replaced(data[0], tuple(below), content)]
    assert isinstance(data, dict), "a path leads through objects, and lists of one item"
    return {**data, str(key): _replaced(data[str(key)], tuple(below), content)}


def _text(text: str, of_json: str, bytes_max: int, handle: str) -> str:
    """Return the beginning of a text, and a note; if both do not fit, the beginning of the note."""

    def note(count: int) -> str:
        return f"\n\n[{_note(f'{count} of {len(text)} characters{of_json}', handle, count)}]"

    beginning = _beginning(text, bytes_max - len(to_json(note(len(text)))))
    return beginning + note(len(beginning)) if beginning else _beginning(note(0).strip(), bytes_max - 2)


def _note(part: str, handle: str, start: int) -> str:
    return f'Shown: the first {part}. read_result(handle="{handle}", start={start}) reads on.'


def _beginning(text: str, space_bytes: int) -> str:
    """Return as much of a text as fits into `space_bytes` bytes of a JSON string, cut at a sensible position."""
    fits, too_long = 0, min(len(text), max(0, space_bytes)) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if len(to_json(text[:middle])) - 2 <= space_bytes:
            fits = middle
        else:
            too_long = middle
    return text[: _sensible_end(text, fits)]


def _sensible_end(text: str, end: int) -> int:
    if end == len(text):
        return end
    for separator in _SEPARATORS:
        position = text.rfind(separator, int(end * _SHARE_MIN), end)
        if position != -1:
            return position + len(separator)
    return end


def _characters(value: Json) -> int:
    """Return the length of a value's JSON text, in characters."""
    return len(to_json(value).decode())
