"""Sessions as they grow round by round, and a reader of the briefings made of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from pydantic_core import from_json

from context_synthesizer.desk import TOKENS_MAX, Desk
from shared.briefing import Briefing, Level
from shared.filing import Known, file_round
from shared.memory import Fact, Memory, MemoryDelta, ReasoningNote
from shared.note import Note
from tests.memories import Call, a_round, an_error, hostile_text, tool_output

SHARES: Mapping[Level, int] = {"full": 1, "simplified": 2, "minimal": 4}
ORDER = (
    "Question", "Facts", "Further facts", "Summaries", "Tools tried", "Reasoning so far", "Sub-questions",
    "Not shown", "Now",
)  # fmt: skip  # one list, in order


@dataclass(frozen=True)
class Told:
    """What one round brought."""

    calls: Sequence[Call] = ()
    text: str = "I look it up."
    note: Note | None = None
    supersedes: Sequence[tuple[int, int]] = ()
    """The place of a fact among the new ones, and the number of an older one that it supersedes."""
    contradicts: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Session:
    """A session's memory as it is kept, and what its tools returned."""

    query: str
    deltas: tuple[MemoryDelta, ...]
    results: Mapping[tuple[int, str], Any] = field(default_factory=dict)

    @property
    def memory(self) -> Memory:
        return Memory.of(self.query, self.deltas)

    def desk(self, tokens_max: int = TOKENS_MAX) -> Desk:
        return Desk.of(self.query, self.deltas, tokens_max)

    def briefing(self, tokens_max: int = TOKENS_MAX, level: Level = "full") -> Briefing:
        return self.desk(tokens_max).briefing(len(self.deltas) + 1, 100, level)


def a_session(*rounds: Told, query: str = "Which courses teach MCP, and who teaches them?") -> Session:
    """The rounds filed one after the other, the first in round 1."""
    memory, known = Memory.of(query), Known()
    deltas: list[MemoryDelta] = []
    results: dict[tuple[int, str], Any] = {}
    for number, told in enumerate(rounds, 1):
        reasoning, came = a_round(*told.calls, round=number, text=told.text)
        delta = _as_told(file_round(memory, reasoning, came, known=known), told, memory, number)
        memory = memory.plus(delta)
        known.add(delta, memory)
        deltas.append(delta)
        results |= {(number, one.call_id): one.data for one in came.results}
    return Session(query, tuple(deltas), results)


def _as_told(delta: MemoryDelta, told: Told, memory: Memory, round: int) -> MemoryDelta:
    facts = list(delta.facts)
    for kind in ("supersedes", "contradicts"):
        for place, number in getattr(told, kind):
            if not facts or f"F{number}" not in memory.facts:
                continue
            fact = facts[place % len(facts)]
            others = dict.fromkeys((*getattr(fact, kind), f"F{number}"))
            facts[place % len(facts)] = fact.model_copy(update={kind: tuple(others)})
    update: dict[str, Any] = {"facts": tuple(facts)}
    if told.note is not None:
        update["reasoning"] = (ReasoningNote(round=round, text=told.text, note=told.note),)
    return delta.model_copy(update=update)


def passages(*told: tuple[str, str]) -> list[dict[str, str]]:
    """A search's result: titled passages."""
    return [{"title": title, "text": text} for title, text in told]


def a_search(query: str, *told: tuple[str, str]) -> Call:
    return "search", {"query": query}, passages(*told)


def fact_saying(memory: Memory, words: str) -> Fact:
    """The one fact whose statement holds those words."""
    (found,) = [fact for fact in memory.facts.values() if words in fact.statement]
    return found


# -- reading a briefing back


@dataclass(frozen=True)
class Line:
    """A fact as a briefing shows it."""

    section: str
    fence: str
    """The line that opens the fence it stands in."""
    title: str
    known: str
    text: str


@dataclass(frozen=True)
class Reading:
    """What a model can tell of a briefing by its form alone."""

    sections: dict[str, list[str]]
    facts: dict[str, Line]
    order: dict[str, list[list[str]]]
    """Of each section, the ids in each fence, as they stand."""

    def text_of(self, section: str) -> str:
        return "\n".join(self.sections.get(section, ()))


_OPENING = re.compile(
    r'<result (?P<call>call="[^"<>\n]*" )?tool="[^"<>\n]*" (?(call)round="\d+" )trust="(?:tool|untrusted)">'
)
_FACT = re.compile(
    r"(F\d+) (\((?:shortened|superseded by|supersedes|contradicts)[^()\n]*\) )?(.*)", re.DOTALL
)


def read(briefing: Briefing, query: str) -> Reading:
    """The briefing by its form; fails on a line that has no place in it."""
    beginning = f"# Question\n{query}"
    assert briefing.text.startswith(beginning)
    rest = briefing.text[len(beginning) :]
    assert not rest or rest.startswith("\n\n# ")
    sections: dict[str, list[str]] = {}
    for part in rest.split("\n\n# ")[1:]:
        title, *lines = part.split("\n")
        assert title not in sections
        sections[title] = _joined(lines)
    facts: dict[str, Line] = {}
    order: dict[str, list[list[str]]] = {}
    for title in ("Facts", "Further facts"):
        order[title] = _read_page(title, sections.get(title, ()), facts)
    return Reading(sections, facts, order)


def _joined(lines: Iterable[str]) -> list[str]:
    """Continuation lines go with the line above."""
    joined: list[str] = []
    for line in lines:
        if line.startswith("  ") and joined:
            joined[-1] += "\n" + line
        else:
            joined.append(line)
    return joined


def _read_page(section: str, lines: Iterable[str], facts: dict[str, Line]) -> list[list[str]]:
    fences: list[list[str]] = []
    opened, title = "", ""
    for line in lines:
        if _OPENING.fullmatch(line):
            assert not opened, "a fence within a fence"
            opened, title = line, ""
            fences.append([])
        elif line == "</result>":
            assert opened
            opened = ""
        elif line.startswith("## "):
            title = line[3:]
        else:
            found = _FACT.fullmatch(line)
            assert found is not None, f"a line of no form: {line!r}"
            assert opened
            assert found[1] not in facts, f"{found[1]} is shown twice"
            facts[found[1]] = Line(section, opened, title, (found[2] or "").strip(" ()"), found[3])
            fences[-1].append(found[1])
    assert not opened, "a fence that is not closed"
    return fences


# -- where a statement stands


def value_at(data: Any, position: str) -> Any:
    """What stands at a JSON path such as `$.results[2].text[120:180]`. Raises where there is nothing."""
    assert position.startswith("$")
    value, at = data, 1
    while at < len(position):
        if position[at] == ".":
            name = re.compile(r"\w+").match(position, at + 1)
            assert name is not None
            value, at = value[name[0]], name.end()
        elif piece := re.compile(r"\[(\d+)(?::(\d+))?\]").match(position, at):
            first, last = int(piece[1]), piece[2]
            value, at = value[first] if last is None else value[first : int(last)], piece.end()
        else:
            key = re.compile(r'\[("(?:[^"\\]|\\.)*")\]', re.DOTALL).match(position, at)
            assert key is not None, position
            value, at = value[from_json(key[1])], key.end()
    return value


def is_said_by(fact: Fact, source: Any) -> bool:
    """Whether the source says exactly the statement, or at least so where texts were taken out of a record."""
    if not fact.is_json:
        return bool(source == fact.statement)
    return _is_part(from_json(fact.statement), source)


def _is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and _is_part(value, whole[key]) for key, value in part.items()
        )
    if isinstance(part, list):
        rest = iter(whole) if isinstance(whole, list) else iter(())
        return all(any(_is_part(value, one) for one in rest) for value in part)
    return type(part) is type(whole) and bool(part == whole)


# -- what hypothesis draws

levels: st.SearchStrategy[Level] = st.sampled_from(tuple(SHARES))
budgets = st.one_of(st.integers(150, 1_500), st.integers(150, 12_000))
_WORDS = (
    "mcp server tool course teacher Ann Lee Oslo Berlin 2021 2024 hours lesson agent prompt protocol opened the"
    " by in of teaches moved price 12 EUR 40% model session cache retry queue river bridge harbour"
).split()
_sentences = st.lists(st.sampled_from(_WORDS), min_size=4, max_size=20).map(lambda said: " ".join(said) + ".")
_titles = st.lists(st.sampled_from(_WORDS), min_size=0, max_size=5).map(" ".join)
_queries = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5).map(" ".join)
_passages = st.lists(
    st.tuples(_titles, st.lists(_sentences, min_size=1, max_size=4).map(" ".join)), max_size=5
)
_tame_calls = st.tuples(_queries, _passages).map(lambda drawn: a_search(drawn[0], *drawn[1]))
_record_calls = st.tuples(
    st.just("lookup"),
    st.fixed_dictionaries({"name": _queries}),
    st.dictionaries(st.sampled_from(_WORDS), st.one_of(st.integers(), _titles, _sentences), max_size=6),
)
_failed_calls = st.tuples(
    st.just("search"),
    st.fixed_dictionaries({"query": _queries}),
    st.builds(an_error, st.sampled_from(["not_found", "timeout"]), hostile_text),
)
_hostile_calls = st.tuples(
    hostile_text.map(lambda name: name[:200]),
    st.dictionaries(hostile_text, tool_output, max_size=2),
    tool_output,
)
_cited = st.lists(st.integers(1, 40), max_size=3).map(lambda ids: "".join(f" [F{one}]" for one in ids))
_said = st.tuples(st.one_of(_sentences, hostile_text), _cited).map("".join)
_lines = st.lists(_said.map(lambda said: " ".join(said.split())).filter(bool), max_size=3).map(tuple)
_notes = st.one_of(
    st.none(), st.builds(Note, concluded=_lines, open=_lines, answered=_lines, doubts=_lines, plans=_lines)
)
_pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), max_size=3)
_rounds = st.builds(
    Told,
    calls=st.lists(
        st.one_of(_tame_calls, _tame_calls, _record_calls, _failed_calls, _hostile_calls), max_size=4
    ),
    text=_said,
    note=_notes,
    supersedes=_pairs,
    contradicts=_pairs,
)
_tame_rounds = st.builds(
    Told, calls=st.lists(st.one_of(_tame_calls, _record_calls), min_size=1, max_size=4), text=_sentences
)


@st.composite
def sessions(draw: st.DrawFn, *, is_tame: bool = False, rounds_min: int = 0, rounds_max: int = 6) -> Session:
    """Sessions of all kinds; tame ones have no hostile texts, no notes and no facts that others put aside."""
    rounds = draw(st.lists(_tame_rounds if is_tame else _rounds, min_size=rounds_min, max_size=rounds_max))
    query = draw(_queries if is_tame else st.one_of(_queries, st.text(min_size=1, max_size=600)))
    return a_session(*rounds, query=query)
