"""The identity and the values of a record, so that records can be compared. Pure."""

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from pydantic_core import from_json

from antiphon_shared.memory.filing.attributes import SINGLE_VALUED, canonical
from antiphon_shared.memory.filing.pieces import TEXT_KEYS
from antiphon_shared.memory.filing.values import Value, exclude, value_of
from antiphon_shared.text.dates import Date, date_of_value
from antiphon_shared.values import JsonObject

_REMEMBERED = 4_096
_CHARACTERS_MAX = 4_000
_VALUE_CHARACTERS_MAX = 80
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?")
_NUMBERS = re.compile(r"\[\d+(?::\d+)?\]")
_CODE_CHARACTERS_MIN = 4
_CODE_DIGITS_MIN = 6
_SHAPE_SHARED = 0.75
_IDS = ("id", "uuid", "isbn", "sku", "doi", "slug", "email")
_NAMES = ("title", "name", "full_name")
_ENTITIES = frozenset((
    *_NAMES, "company", "country", "product", "organization", "organisation", "city", "person", "place", "course",
    "book", "film", "movie", "hotel", "restaurant", "station", "project", "museum", "university", "team",
))  # fmt: skip  # a text, not a column
_DATES = (
    "as_of", "asof", "updated_at", "updated", "updated_on", "last_updated", "last_modified", "modified_at", "modified",
    "effective_date", "effective", "valid_from", "measured_at", "reported_at", "date", "year",
)  # fmt: skip  # one list, the most distinctive first
_SAY_WHICH = frozenset((
    "number", "no", "lesson", "index", "position", "chapter", "page", "order", "section", "version", "season",
    "episode", "part", "step", "volume", "row", "line", "seq", "start", "end", "from", "to", "lang", "language",
    "locale", "unit", "currency", "period", "month", "quarter", "week", "day", "type", "kind", "category", "course",
    "parent", "url", "uri", "link", "href", "path", "file", "filename", "key", "code", "edition", "author", "born",
    "phone", "fax", "mobile", "birthday", "birth_date", "date_of_birth", "city", "country", "location", "place",
    "address",
))  # fmt: skip  # a text, not a column
"""Fields in which two records differ only if they are about two things."""
_PASSING = frozenset((
    "score", "rank", "relevance", "distance", "similarity", "snippet", "text", "content", "summary", "description",
    "highlight", "query", "took", "elapsed", "timestamp", "fetched_at", "retrieved_at", "created_at", "etag",
))  # fmt: skip  # a text, not a column
"""Fields about a record's retrieval, and fields of free text."""


Kind = tuple[str, str]
"""The tool that returned a record, and the position of such records in its results."""


class Entry(NamedTuple):
    """A record with its identity."""

    identity: tuple[str, str]
    is_code: bool
    """Whether its identity is an id that is probably unique: letters and digits, or many digits."""
    shape: frozenset[str]
    qualifiers: Mapping[str, Any]
    values: Mapping[str, Any]
    date: Date | None


class DescribedRecord:
    """A record with the name of its subject, as sentences name it. Its fields are read on first use."""

    def __init__(self, subject: str, identifier: str, record: JsonObject) -> None:
        self.subject = subject
        """The subject in lower case, without articles."""
        self._identifier = identifier
        self._record = record

    @cached_property
    def date(self) -> Date | None:
        """Return the date of its values."""
        return date_of_value(self._record[self._dated]) if self._dated else None

    @cached_property
    def qualifiers(self) -> Mapping[str, Any]:
        """Return the fields that distinguish the record from similar ones."""
        return {key.lower(): _plain(value) for key, value in self._rest if _is_qualifier(key.lower())}

    @cached_property
    def fields(self) -> Mapping[str, tuple[str, Any]]:
        """Return the name and the value of the field of each attribute."""
        return {canonical(key): (key, value) for key, value in self._rest if key.lower() not in _PASSING}

    def value(self, attribute: str) -> Value | None:
        """Return the record's value of an attribute, in the form of the values of sentences."""
        name, value = self.fields.get(attribute, ("", None))
        return value_of(attribute, name, value) if name else None

    def differs_from(self, other: "DescribedRecord") -> bool:
        """Return whether two records of any shape give an attribute of one thing two values, and others the same."""
        if any(other.qualifiers.get(key, value) != value for key, value in self.qualifiers.items()):
            return False
        common = [attribute for attribute in self.fields if attribute in other.fields]
        differing = [key for key in common if _plain(self.fields[key][1]) != _plain(other.fields[key][1])]
        if not 0 < len(differing) <= max(1, len(common) // 2):
            return False
        pairs = [(self.value(key), other.value(key)) for key in differing if key in SINGLE_VALUED]
        return any(one is not None and its is not None and exclude(one, its) for one, its in pairs)

    @cached_property
    def _dated(self) -> str:
        return _date_key(self._record)

    @cached_property
    def _rest(self) -> list[tuple[str, Any]]:
        apart = (self._identifier, self._dated)
        return [(key, value) for key, value in self._record.items() if key not in apart and _is_plain(value)]


class ComparableForms(NamedTuple):
    """The forms in which a record is compared: with records of its kind, and with any text on its subject."""

    entry: Entry | None
    described: DescribedRecord | None
    prose: tuple[str, ...]
    """Its texts that are too short to be statements of their own."""


@lru_cache(_REMEMBERED)
def comparable_forms(text: str) -> ComparableForms:
    """Return the forms of the record in a statement; empty ones when it holds no record."""
    record = from_json(text) if text.startswith("{") and len(text) <= _CHARACTERS_MAX else None
    if not isinstance(record, dict):
        return _NOTHING
    prose = [value for key, value in record.items() if key in TEXT_KEYS and isinstance(value, str)]
    return ComparableForms(_entry(record), _described(record), tuple(prose))


_NOTHING = ComparableForms(None, None, ())


def _described(record: JsonObject) -> DescribedRecord | None:
    """Return the record with the name of its subject, if it has one."""
    for key, value in record.items():
        if isinstance(value, str) and key.lower() in _ENTITIES and len(value) <= _VALUE_CHARACTERS_MAX:
            subject = f" {value.lower()} ".replace(" the ", " ").strip()
            return DescribedRecord(subject, key, record) if len(record) > 1 and subject else None
    return None


def _entry(record: JsonObject) -> Entry | None:
    """Return the record with its identity, if it has one."""
    plain = {key.lower(): _plain(value) for key, value in record.items() if _is_plain(value)}
    id_key = next((key for key in (*_IDS, *_NAMES) if plain.get(key) not in (None, "")), None)
    if id_key is None:
        first = next(iter(plain), "")  # an id of its own kind: `order_id`
        id_key = first if first.endswith("_id") and _is_code(str(plain[first])) else None
    if id_key is None:
        return None
    dated = _date_key(record)
    apart = (id_key, dated.lower()) if dated else (id_key,)
    rest = {key: value for key, value in plain.items() if key not in apart and key not in _PASSING}
    return Entry(
        identity=(id_key, str(plain[id_key])),
        is_code=(id_key in _IDS or id_key.endswith("_id")) and _is_code(str(plain[id_key])),
        shape=frozenset(key.lower() for key in record),
        qualifiers={key: value for key, value in rest.items() if _is_qualifier(key)},
        values={key: value for key, value in rest.items() if not _is_qualifier(key)},
        date=date_of_value(record[dated]) if dated else None,
    )


def _date_key(record: JsonObject) -> str:
    """Return the name of the field with the date of a record's values; empty without such a field."""
    dated = dict[str, str]()
    for key, value in record.items():
        if key.lower() in _DATES and date_of_value(value):
            dated.setdefault(key.lower(), key)
    return next((dated[name] for name in _DATES if name in dated), "")


def kind_of(tool: str, position: str) -> Kind:
    return tool, _NUMBERS.sub("[]", position)


def is_same_kind(one: Entry, kind: Kind, other: Entry, its: Kind) -> bool:
    """Return whether two identities can be of one thing: the 1 of a customer is not the 1 of an order."""
    return kind == its or (one.is_code and other.is_code)


def disagree(one: Entry, other: Entry) -> bool:
    """Return whether two records are about the same thing, with different values."""
    if one.identity != other.identity or _overlap(one.shape, other.shape) < _SHAPE_SHARED:
        return False
    if any(other.qualifiers.get(key, value) != value for key, value in one.qualifiers.items()):
        return False
    common = [key for key in one.values if key in other.values]
    differing = [key for key in common if one.values[key] != other.values[key]]
    if not one.is_code and any(key in _NAMES for key in differing):
        return False
    has_own_id = one.is_code and one.identity[0] in _IDS
    return bool(differing) and (has_own_id or len(differing) <= max(1, len(common) // 2))


def _is_code(name: str) -> bool:
    digits = sum(map(str.isdecimal, name))
    has_both = digits > 0 and any(map(str.isalpha, name)) and len(name) >= _CODE_CHARACTERS_MIN
    return has_both or digits >= _CODE_DIGITS_MIN


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _is_qualifier(key: str) -> bool:
    return key in _SAY_WHICH or key in _IDS or key.endswith(("_id", "_number", "_url", "_date", "_at"))


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | float) or (
        isinstance(value, str) and len(value) <= _VALUE_CHARACTERS_MAX
    )


def _plain(value: object) -> Any:
    """Return a comparable value: numbers in any notation are equal, and texts in any case and spacing."""
    if not isinstance(value, str):
        return value
    text = " ".join(value.lower().split())
    return float(text) if _NUMBER.fullmatch(text) else text
