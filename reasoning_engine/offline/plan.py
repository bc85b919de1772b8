"""The choice of the next calls. Pure.

A question with a reference (`the same topic as part 4 of X`) is answered in two dependent steps: find out
what the reference is, then search for that. Any other question goes to the tool whose words fit it best;
missing arguments of that tool are fetched from another tool first. No call is made twice.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from antiphon_shared.tools.relevance import ASK_USER

from reasoning_engine.offline.arguments import Filling, broader, fill_arguments
from reasoning_engine.offline.language import ALIKE_MIN, likeness
from reasoning_engine.offline.question import Question, Reference, Slots
from reasoning_engine.offline.records import Record
from reasoning_engine.offline.references import Resolution, resolve
from reasoning_engine.offline.schema import Parameter, Tool
from reasoning_engine.offline.tried import TriedCall
from reasoning_engine.offline.values import relevant

CALLS_MAX = 4
"""The limit of calls in one round, while no search has failed."""
_ALTERNATIVES_MAX = 8
"""The limit of calls in the round after a search without results."""
_RECORDS_MAX = 300
_RETRIES_PER_TOOL_MAX = 4
_IN_QUOTES = re.compile(r"[\"'“‘`]([^\"'“”‘’`\n]{2,200})[\"'”’`]")


@dataclass(frozen=True)
class Call:
    """A call to be made, and its reason."""

    tool: str
    arguments: dict[str, Any]
    reason: str


@dataclass(frozen=True)
class Situation:
    """The knowledge in a round."""

    question: Question
    tools: tuple[Tool, ...]
    records: tuple[Record, ...]
    tried: tuple[TriedCall, ...]

    def resolution(self) -> Resolution | None:
        """Return what the question's reference is, if the results hold it."""
        reference = self.question.reference
        return resolve(reference, self.records, self.tried) if reference else None

    def relevant(self) -> tuple[Record, ...]:
        """Return the records, the most relevant to the question first."""
        return relevant(self.question, self.records[:_RECORDS_MAX])


def next_calls(situation: Situation) -> tuple[Call, ...]:
    """Return the calls worth making now; an empty tuple when it is time to answer."""
    usable = tuple(tool for tool in situation.tools if _may_use(tool, situation.question))
    situation = replace(situation, tools=usable)
    question, reference = situation.question, situation.question.reference
    if reference is not None and (question.compares or _points(question, reference)):
        calls = _follow_reference(situation, reference)
        if calls or question.compares or situation.resolution():
            return calls
    return _work_towards(situation)


def _points(question: Question, reference: Reference) -> bool:
    return bool(reference.number and reference.entity and not question.topic)


def _follow_reference(situation: Situation, reference: Reference) -> tuple[Call, ...]:
    question = situation.question
    resolution = situation.resolution()
    if resolution is None:
        return tuple(_first(_lookups(situation, reference)))
    slots = Slots(text=question.text) if question.compares else question.slots
    for tool in _by_fit(situation, searching=True):
        for query in resolution.queries:
            filling = fill_arguments(tool, replace(slots, query=query))
            if not filling.is_complete or (not question.compares and not filling.filled_from("named")):
                continue
            if any(tried.facts and tried.was(tool.name, filling.arguments) for tried in situation.tried):
                return ()
            call = next(_fresh(situation, tool, filling, f"look for “{query}”"), None)
            if call is not None:
                return (call,)
    return ()


def _lookups(situation: Situation, reference: Reference) -> Iterator[Call]:
    """Yield calls that may find out what the reference is: tools that take its names first, searches last."""

    def rank(entry: tuple[Tool, Filling]) -> tuple[bool, bool, int]:
        tool, filling = entry
        query, parameters = tool.search_parameter, filling.filled_from("named")
        return _is_wild_guess(situation, tool, filling), bool(query and query.required), -len(parameters)

    options = [(tool, fill_arguments(tool, reference.slots)) for tool in _by_fit(situation)]
    for tool, filling in sorted(options, key=rank):
        if filling.is_complete and (
            filling.filled_from("named") or filling.entities or tool.search_parameter
        ):
            yield from _fresh(situation, tool, filling, f"find out what {reference} is")


def _is_wild_guess(situation: Situation, tool: Tool, filling: Filling) -> bool:
    """Return whether only elimination supports a call: the question shares no word with the tool."""
    return bool(filling.filled_from("rest")) and not situation.question.terms & tool.all_stems


def _work_towards(situation: Situation) -> tuple[Call, ...]:
    """Return calls of the best-fitting usable tool, or the call that fetches its missing argument.

    Once a search has found nothing, all remaining attempts go into one round, as rounds are few.
    """
    has_empty_search = any(tried.is_empty for tried in situation.tried)
    if len({tried.round for tried in situation.tried}) > 1 and all(
        tried.is_empty for tried in situation.tried
    ):
        return ()
    calls_so_far: list[Call] = []
    for tool in _by_fit(situation):
        if _succeeded(situation, tool):
            break
        fits = situation.question.terms & tool.all_stems
        is_tried = any(one.tool == tool.name for one in situation.tried)
        if has_empty_search and (tool.writes or not (fits or is_tried or tool.search_parameter)):
            continue
        records = situation.relevant()
        fillings = [fill_arguments(tool, slots, records) for slots in one_at_a_time(situation.question.slots)]
        calls = _calls_of(situation, tool, fillings)
        if calls and not has_empty_search:
            return tuple(calls)
        for parameter in fillings[0].missing if fits and not (calls or calls_so_far) else ():
            if fetch := tuple(_first(_producers(situation, tool, parameter))):
                return fetch
        calls_so_far += calls
    return tuple(calls_so_far[:_ALTERNATIVES_MAX])


def _calls_of(situation: Situation, tool: Tool, fillings: list[Filling]) -> list[Call]:
    """Return the calls of a tool that answer the question; after an empty search, also with fewer search words."""
    usable = [
        filling
        for filling in fillings
        if filling.is_complete and (len(situation.tools) == 1 or not _is_wild_guess(situation, tool, filling))
    ]
    has_empty_search = any(tried.is_empty for tried in situation.tried)
    calls = [call for one in usable for call in _first(_fresh(situation, tool, one, "answer the question"))]
    for filling in usable if has_empty_search and not tool.writes else ():
        for arguments in broader(filling, tool.all_stems):
            calls += _unmade(situation, Call(tool.name, arguments, "search for less"))
    return calls[:CALLS_MAX]


def _producers(situation: Situation, goal: Tool, parameter: Parameter) -> Iterator[Call]:
    """Yield calls whose results may hold the goal's missing argument: of tools for the same thing."""
    nouns, slots = parameter.nouns or goal.name_stems - {goal.verb}, situation.question.slots
    query = next((entity.value for entity in slots.entities if entity.noun in nouns), slots.query)
    others = [tool for tool in situation.tools if tool.name != goal.name and nouns & tool.all_stems]
    for tool in sorted(others, key=lambda tool: not nouns & tool.name_stems):
        filling = fill_arguments(tool, replace(slots, query=query), situation.relevant())
        if filling.is_complete and not (tool.writes or _succeeded(situation, tool)):
            yield from _fresh(situation, tool, filling, f"find the {parameter.name} for {goal.name}")


def _fresh(situation: Situation, tool: Tool, filling: Filling, reason: str) -> Iterator[Call]:
    """Yield the call as filled, then as an error suggested: those not made yet."""
    for arguments in (filling.arguments, *_corrected(situation, tool, filling.arguments)):
        yield from _unmade(situation, Call(tool.name, arguments, reason))


def _corrected(situation: Situation, tool: Tool, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the arguments with a name replaced by the nearest one that an error message quotes."""
    for tried in situation.tried:
        offers = _IN_QUOTES.findall(tried.message[:4_000]) if tried.tool == tool.name else []
        for name, value in arguments.items():
            others = [offer for offer in offers if offer.lower() != str(value).lower()]
            best = max(others, key=lambda offer: likeness(offer, str(value)), default="")
            if isinstance(value, str) and likeness(best, value) >= ALIKE_MIN:
                yield {**arguments, name: best}


def _unmade(situation: Situation, call: Call) -> tuple[Call, ...]:
    """Return the call, unless it was already made, or its tool has reached its limit of calls (1 for a write)."""
    made = [tried for tried in situation.tried if tried.tool == call.tool]
    writes = any(tool.writes for tool in situation.tools if tool.name == call.tool)
    is_enough = len(made) > (0 if writes else _RETRIES_PER_TOOL_MAX)
    return () if is_enough or any(tried.was(call.tool, call.arguments) for tried in made) else (call,)


def _succeeded(situation: Situation, tool: Tool) -> bool:
    known_ids = tuple(id for record in situation.records for id in record.fact.ids)
    return any(tried.tool == tool.name and tried.has_returned_any(known_ids) for tried in situation.tried)


def _by_fit(situation: Situation, *, searching: bool = False) -> list[Tool]:
    """Return tools by the fit of their words and parameters to the question; the catalogue's order breaks ties."""
    tools = [tool for tool in situation.tools if not searching or tool.search_parameter]
    spoken = {tool.name: tool.all_stems for tool in tools}
    question = situation.question

    def fit(tool: Tool) -> float:
        score = 6.0 * (tool.verb in question.imperatives and tool.writes)
        for term in question.terms & spoken[tool.name]:
            rarity = math.log(1 + len(tools) / sum(term in tool_stems for tool_stems in spoken.values()))
            score += rarity * (2 if term in tool.name_stems else 1)
        filling, query = fill_arguments(tool, question.slots), tool.search_parameter
        parameters, searches = filling.filled_from("named"), query is not None and query.required
        suits = bool(question.topic) or not parameters if searches else bool(parameters)
        score += question.counts and tool.verb in ("count", "number", "total")
        is_clear = filling.is_complete and not filling.filled_from("rest")
        return score + len(parameters) + (suits and is_clear)

    return sorted(tools, key=lambda tool: -fit(tool))


def one_at_a_time(slots: Slots) -> list[Slots]:
    """Return separate slots for each of several things of one kind, such as book A and book B."""
    for kind in {(entity.noun, entity.preposition): None for entity in slots.entities}:
        kin = [entity for entity in slots.entities if (entity.noun, entity.preposition) == kind]
        if len(kin) > 1 and any(kind):
            others = tuple(entity for entity in slots.entities if entity not in kin)
            own = slots.query in [entity.value for entity in kin]
            return [
                replace(slots, entities=(*others, one), query=one.value if own else slots.query)
                for one in kin
            ]
    return [slots]


def _may_use(tool: Tool, question: Question) -> bool:
    """Return whether a tool may be used: a write only on request; a question to the user never."""
    return tool.name != ASK_USER and (not tool.writes or tool.verb in question.imperatives)


def _first(calls: Iterator[Call]) -> Iterator[Call]:
    return islice(calls, 1)
