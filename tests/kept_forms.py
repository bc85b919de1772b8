"""The results of text readers for every form of their patterns and every entry of their tables, kept in a file.

A reader is a function of one text. Its texts come from its module: of each pattern every alternative, every sign of a
set and every bound, met, missed by one and passed by one (see recordings/pattern_forms.py), and of each table every
word. The texts are kept with their results: a changed pattern or table is compared with the same ones.

After an intended change, `make tables` rewrites all of these files; review the difference.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Any

from tests.recordings.pattern_forms import forms


@dataclass(frozen=True)
class Reader:
    """A function of one text, and the modules whose forms and words it is checked with."""

    name: str
    read: Callable[[str], Any]
    modules: tuple[ModuleType, ...]
    more: tuple[str, ...] = ()
    same_max: int = 0
    """The most texts to keep with the same result; 0 keeps all."""
    sentences: tuple[str, ...] = ()
    """Each has a gap, `{}`, for every word of the tables; those are kept in which the word makes a difference."""

    def __str__(self) -> str:
        return self.name


def readers_of(module: ModuleType, *names: str, others: tuple[ModuleType, ...] = ()) -> tuple[Reader, ...]:
    """Return some functions of a module as readers, with the module's own texts and those of others."""
    short = module.__name__.rpartition(".")[2]
    return tuple(Reader(f"{short}.{name}", getattr(module, name), (module, *others)) for name in names)


_ROOT = Path(__file__).parents[1]
_FORMS_MAX = 80
"""The most forms of one pattern."""
_TEXT_CHARACTERS_MAX = 300
_GIVEN_CHARACTERS_MAX = 100
_DEPTH_MAX = 4
_WORD = re.compile(r"\w+(?:[ '’.-]\w+)*")
_NO_WORD = "zyzzyx" * 10
"""A word of which no beginning is in a table."""


def differences(reader: Reader, file: Path) -> list[str]:
    """Return which of the kept texts come to something else now."""
    if reader.name not in _kept(file):
        return [f"{reader.name} is new: `make tables` writes its results down"]
    now = ((text, then, given(reader.read, text)) for text, then in _kept(file)[reader.name])
    changed = [
        f"{text!r}: {then}, and now {outcome}"
        for text, then, outcome in now
        if json.dumps(then) != json.dumps(outcome)
    ]
    return [*changed, "If this is meant, run `make tables` and read the difference."] if changed else []


def _message(error: Exception) -> str:
    """Return an error's name, and its words where they are ours: those of Python and of libraries change with them."""
    frames = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
    is_raised_here = str(Path(frames[-1]).parent).startswith(str(_ROOT)) and ".venv" not in frames[-1]
    is_slip = type(error) in (TypeError, AttributeError)
    return f"{type(error).__name__}: {error}" if is_raised_here and not is_slip else type(error).__name__


@cache
def _kept(file: Path) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(file.read_text())
    return kept


def given(read: Callable[[str], Any], text: str) -> Any:
    """Return what a reader makes of a text, as JSON has it; where that is long, its beginning and a digest."""
    outcome = _whole(read, text)
    shown = json.dumps(outcome, ensure_ascii=False)
    if len(shown) <= _GIVEN_CHARACTERS_MAX:
        return outcome
    return f"{shown[:_GIVEN_CHARACTERS_MAX]}... {blake2b(shown.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"


def _whole(read: Callable[[str], Any], text: str) -> Any:
    try:
        made = read(text)
        return _plain(list(made) if isinstance(made, Iterator) else made)
    except Exception as error:
        return _message(error)


def write(readers: Sequence[Reader], file: Path) -> None:
    """Write down the present results of the texts that are kept already, and of new ones."""
    before = _kept(file) if file.exists() else {}
    kept = {one.name: list(_rows(one, [text for text, _ in before.get(one.name, ())])) for one in readers}
    parts = (
        f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in kept.items()
    )
    file.write_text("{" + ",\n".join(parts) + "}\n")


def _rows(reader: Reader, kept: Sequence[str]) -> Iterator[tuple[str, Any]]:
    counts = Counter[str]()
    for text in dict.fromkeys((*kept, *texts_of(reader))):
        outcome = given(reader.read, text)
        counts[json.dumps(outcome)] += 1
        if text in kept or not reader.same_max or counts[json.dumps(outcome)] <= reader.same_max:
            yield text, outcome
    for text in _telling(reader):
        if text not in kept:
            yield text, given(reader.read, text)


def texts_of(reader: Reader) -> list[str]:
    """Return the forms of the patterns and the words of the tables at the top of a reader's modules, and its own."""
    found: dict[str, None] = dict.fromkeys((*(("", " ") if reader.modules else ()), *reader.more))
    for module in reader.modules:
        for name, value in vars(module).items():
            for one in _within(value, _DEPTH_MAX) if not name.startswith("__") else ():
                found |= dict.fromkeys(
                    islice(forms(one), _FORMS_MAX) if isinstance(one, re.Pattern) else (one,)
                )
    return [text for text in found if len(text) <= _TEXT_CHARACTERS_MAX]


def _telling(reader: Reader) -> Iterator[str]:
    """Yield the sentences whose word changes the result in another way than a word that is in no table."""
    texts = texts_of(reader) if reader.sentences else []
    words = dict.fromkeys(word for text in texts for word in (text, *text.split()) if _WORD.fullmatch(word))

    def without(word: str, sentence: str) -> str:
        shown = json.dumps(_whole(reader.read, sentence.replace("{}", word)), ensure_ascii=False)
        return re.sub(rf"(?i)\b{re.escape(word)}\b", "{}", shown)

    for sentence in reader.sentences:
        plain: dict[int, str] = {}  # by the length, as some readers return positions
        for word in words:
            if (length := len(word)) not in plain:
                plain[length] = without(_NO_WORD[:length], sentence)
            if without(word, sentence) != plain[length]:
                yield sentence.replace("{}", word)


def _within(value: Any, depth: int) -> Iterator["re.Pattern[str] | str"]:
    """Yield the patterns and words in a table, however it is built."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth == 0 or isinstance(value, type):
        return
    elif is_dataclass(value):
        for one in fields(value):
            yield from _within(getattr(value, one.name, None), depth - 1)
    elif isinstance(value, dict):
        yield from _members((*value.keys(), *value.values()), depth)
    elif isinstance(value, tuple | list):
        yield from _members(value, depth)
    elif isinstance(value, set | frozenset):
        yield from _members(sorted(value, key=str), depth)


def _members(values: Sequence[Any], depth: int) -> Iterator["re.Pattern[str] | str"]:
    for one in values:
        if isinstance(one, str):
            yield one
        else:
            yield from _within(one, depth - 1)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return round(value, 6)
        case bytes():
            return value.decode("utf-8", "replace")
        case Enum():
            return value.name
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case set() | frozenset():
            return sorted(map(str, value))
        case tuple() | list():
            return [_plain(one) for one in value]
        case _ if is_dataclass(value):
            return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
        case _ if hasattr(value, "model_dump"):
            return value.model_dump(mode="json", exclude_defaults=True)
        case _:
            return re.sub(" at 0x[0-9a-f]+", "", str(value))
