"""The entries of a note: its keys in all their spellings, as lines or as JSON. Pure."""

import json
import re

from antiphon_shared.text.citations import CITATION

ENTRY_CHARACTERS_MAX = 500
ENTRIES_MAX = 20
NOTE_CHARACTERS_MAX = 20_000

NOTE_FORM = """\
<note>
concluded: what the facts show [F3, F7]
open: a sub-question still open; name all that are
answered: a sub-question, and its answer [F3]
doubt: what may be wrong
plan: what you look for next
</note>"""
"""The form for a prompt. A repetition of it does not count as an entry."""

_KEYS_OF = {
    "concluded": "concluded, conclusion, concluded so far, conclusions so far, known, known so far, known fact",
    "open": "open, still open, open question, open sub question, sub question, question, unanswered, missing",
    "answered": "answered, answered question, answered sub question, resolved",
    "doubts": "doubt, doubted, doubtful, uncertain, uncertainty, uncertainties",
    "plans": "plan, planned, next, next step",
    "constraints": "constraint",
    "goal": "goal, intent, objective",
}
"""The keys of each kind, the canonical first; also in the plural, and with `-`, `_` or no space."""

_DEPTH_MAX = 4

Entry = tuple[str, str]
"""Kind and text."""

CODE_FENCE = re.compile(r"^[^\S\n]*+(?P<marks>`{3,}+|~{3,}+)(?P<info>[^\n`]*+)$", re.MULTILINE)
NOTE_TAG = re.compile(r"<\s{0,4}(?P<closes>/?)\s{0,4}note\s{0,4}>", re.IGNORECASE)
KEYS = {kind: [key.strip() for key in keys.split(",")] for kind, keys in _KEYS_OF.items()}
_KIND_OF = {key.replace(" ", "").rstrip("s"): kind for kind, keys in KEYS.items() for key in keys}
_ANY_KEY = "|".join(key.replace(" ", "[ _-]?") for keys in KEYS.values() for key in keys)
_KEY = rf"(?P<key>(?:{_ANY_KEY})s?)"
BULLET = re.compile(r"\s*+(?:[-*•+]|\d{1,2}[.)])\s++")
_KEYED = re.compile(
    rf"\s*+(?:(?:[-*•+]|#{{1,6}}|\d{{1,2}}[.)])\s++)?(?P<mark>[*_`\"]{{1,3}})?{_KEY}(?(mark)(?P=mark)?)"
    rf"(?:\s?\([^()]{{0,40}}\))?\s{{0,4}}[:：](?(mark)(?:(?P=mark))?)",
    re.IGNORECASE | re.ASCII,
)
_HEADING = re.compile(
    rf"\s*+(?:#{{1,6}}\s++|(?=\*\*))(?:\*\*)?{_KEY}(?:\*\*)?\s*+$", re.IGNORECASE | re.ASCII
)
_KEY_TAG = re.compile(rf"<(?P<closes>/?){_KEY}>", re.IGNORECASE | re.ASCII)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)(?:(")(\s{0,20}:)?|\\?\Z)', re.DOTALL)
_BULLETS = re.compile(r"\A(?:[-*•+]\s++)++")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_SAYS_NOTHING = re.compile(
    r"(?:none|nothing|n/?a|nil|null|no|tbd)?(?: (?:yet|so far|left|remaining|at present|for now|known|open))*"
    r"|no (?:(?:more|further|open|new|remaining) ){0,2}(?:(?:sub-?)?questions?|doubts?|plans?|constraints?)"
    r"|<[^<>]*>|[\[{(]?(?:\.{2,}|…)[\]})]?",
    re.IGNORECASE,
)
_FORM_SAYS = {CITATION.sub("", line.partition(": ")[2]).strip() for line in NOTE_FORM.splitlines()}


def entries_of(content: str) -> list[Entry] | None:
    """Return the entries of a note's text, unbounded, or None without any of the keys."""
    if not content.strip():
        return []
    opening = content.find("{")
    if opening >= 0 and not CODE_FENCE.sub("", content[:opening]).strip():
        return _from_json(content[opening:])
    return _from_lines(content)


def _from_lines(content: str) -> list[Entry] | None:
    entries: list[Entry] = []
    kind, goes_on, is_list = "", False, False
    for line in _KEY_TAG.sub(_as_line, content).splitlines():
        if not line.strip():
            goes_on = False
        elif CODE_FENCE.match(line):
            continue
        elif key := key_at(line):
            kind, text = _kind(key["key"]), line[key.end() :]
            goes_on, is_list = bool(text.strip()), not text.strip()
            entries.append((kind, text))
        elif kind and (bullet := BULLET.match(line)):
            entries.append((kind, line[bullet.end() :]))
            goes_on = True
        elif goes_on:
            entries[-1] = kind, f"{entries[-1][1]} {line.strip()}"
        elif is_list:
            entries.append((kind, line))
    return entries if kind else None


def key_at(line: str) -> re.Match[str] | None:
    """Return the key at the beginning of a line: `open:`, `**Open**:`, `- open:`, `## Open questions`."""
    return _KEYED.match(line) or _HEADING.match(line)


def _as_line(tag: re.Match[str]) -> str:
    """Return `<open>` as the key of a line."""
    return "\n" if tag["closes"] else f"\n{tag['key']}: "


def _from_json(content: str) -> list[Entry] | None:
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(content)
    except (ValueError, RecursionError):
        return _from_broken_json(content)
    inner = value.get("note", value)
    fields = inner if isinstance(inner, dict) else value
    by_kind = [(_kind(key), entry) for key, entry in fields.items()]
    entries = [(kind, text) for kind, entry in by_kind if kind for text in _texts(entry)]
    return entries if any(kind for kind, _ in by_kind) else None


def _from_broken_json(content: str) -> list[Entry] | None:
    """Return the complete strings of truncated or faulty JSON, each under the key before it."""
    entries: list[Entry] = []
    kind, has_key = "", False
    for text, is_closed, is_key in _STRING.findall(content):
        if is_key:
            kind = _kind(text)
            has_key = has_key or bool(kind)
        elif is_closed and kind:
            entries.append((kind, _unescaped(text)))
    return entries if has_key else None


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _texts(entry: object) -> list[str]:
    """Return the entries in a JSON value: one for each line of a text, item of a list or field of an object."""
    if isinstance(entry, str):
        return entry.splitlines()
    if isinstance(entry, list):
        return [_in_a_row(one) for one in entry]
    if isinstance(entry, dict):
        return [f"{key} {_in_a_row(value)}" for key, value in entry.items()]
    return [_in_a_row(entry)]


def _in_a_row(value: object, depth: int = 0) -> str:
    """Return all values in a JSON value as one text, without keys."""
    parts = list(value.values()) if isinstance(value, dict) else value
    if isinstance(parts, list):
        return " ".join(_in_a_row(one, depth + 1) for one in parts) if depth < _DEPTH_MAX else ""
    return "" if parts is None else str(parts)


def _kind(key: str) -> str:
    """Return the kind of a key; empty for an unknown key."""
    return _KIND_OF.get(re.sub(r"[\s_-]", "", key[:100]).lower().rstrip("s"), "")


def one_line(entry: str) -> str:
    """Return an entry within its bounds; empty if it has no content."""
    plain = _KEY_TAG.sub(" ", NOTE_TAG.sub(" ", _SURROGATES.sub("\ufffd", entry[:NOTE_CHARACTERS_MAX])))
    line = _BULLETS.sub("", " ".join(plain.split()))[:ENTRY_CHARACTERS_MAX].rstrip()
    words = CITATION.sub("", line).strip(" .,;:!-–—_*()\"'`")
    return "" if _SAYS_NOTHING.fullmatch(words) or words in _FORM_SAYS else line
