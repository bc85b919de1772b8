"""The offline model's reading of every form of its patterns and every word of its tables: every_form.json.

After an intended change, run `python -m tests.reasoning_engine.offline.test_every_form`, and review the output.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from antiphon_shared.text import dates, words

from context_synthesizer.session_index import SessionIndex
from reasoning_engine.offline import (
    arguments,
    briefing_text,
    demand,
    forms,
    language,
    plan,
    question,
    question_values,
    records,
    scalars,
    schema,
    spans,
    step_calls,
    step_text,
    tried,
    values,
)
from reasoning_engine.offline.reasoner import Request, reply_to
from reasoning_engine.offline.schema import Tool
from tests.kept_forms import Reader, differences, readers_of, write
from tests.reasoning_engine.offline.briefings import a_briefing
from tests.reasoning_engine.offline.rounds import TOKENS_MAX
from tests.reasoning_engine.offline.test_golden import ODD_TOOLS
from tests.rows import each_row

KEPT = Path(__file__).with_name("every_form.json")
_NOUNS = frozenset(("lesson", "book", "room", "nut"))
_OFFERED = tuple(Tool(tool.name, tool.description, tool.schema) for tool in ODD_TOOLS)
_ASKED = (question, spans, question_values, language, forms, values, scalars, plan, demand, step_calls)
_READ_OF_NAMES = (schema, arguments, values, records, question_values)
_QUESTIONS = ("{} the boat of Holm with 3 nuts?", "Who keeps the lamp {} 4 of Holm?")
_NAMES = tuple(
    word
    for group in (
        "title name label heading headline boat_title",
        "count number quantity qty amount total size total_boats boat_count how_many num no of",
        "price cost fee boat_price",
        "id code key sku slug identifier boat_id boat_code isbn ref uuid",
        "text description summary body content notes",
        "email mail phone telephone date day when since until departure_date",
        "query queries q topic keyword term phrase words search question prompt subject what string pattern contains",
        "limit max maximum top n first page_size max_results",
        "from origin source departure start to destination target arrival end",
        "city town place location country region where near area",
        "pieces units times value filter full only list all by for and or",
        "index position order",
    )
    for word in group.split()
)
"""Names of parameters and of fields."""


def _slots(text: str) -> Any:
    """Return the values and the topic that a question has for calls."""
    slots = question.read_question(text, _NOUNS).slots
    values_of = [[one.value for one in some] for some in (slots.entities, slots.numbers)]
    return *values_of, slots.dates, slots.query, slots.limit, slots.wants_all


def _entities(text: str) -> Any:
    return spans.find_entities(text, _NOUNS, spans.find_numbers(text, _NOUNS))


def _first_reply(text: str) -> Any:
    """Return its first reply to a question that contains the text."""
    asked = f"Find {text} nuts of Oslo."
    return reply_to(Request(SessionIndex(asked, TOKENS_MAX).briefing(1, 4).text, _OFFERED))


def _reply_with(*tools: Tool, briefing: str) -> Any:
    reply = reply_to(Request(briefing, tools))
    return reply.tool_uses or reply.text


def _of_a_parameter(type: str) -> Callable[[str], Any]:
    """Return the arguments for a tool whose one parameter has the name."""
    asked = 'Find at most 3 boats of kind AB-12 from Oslo to Bergen on 2024-05-06, and the lamp in "Holm".'
    briefing = SessionIndex(asked, TOKENS_MAX).briefing(1, 4).text

    def call(name: str) -> Any:
        return _reply_with(Tool("find_boats", "Finds boats and lamps.", _with(name, type)), briefing=briefing)

    return call


def _with_a_key(key: str) -> Any:
    """Return the reply after a result that has a value under the name."""
    found = [{"boat": "Aker", key: "AB-12"}, {"boat": "Holm", key: "AB-14"}]
    briefing = a_briefing("What does the log of the boat Holm say?", ("list_boats", {}, found))
    return _reply_with(
        Tool("open_log", "Opens the log of a boat.", _with("boat_id", "string")), briefing=briefing
    )


def _with(name: str, type: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": type}}, "required": [name]}


def _same_names(name: str) -> Any:
    return [other for other in _NAMES if values.closeness(name, other, frozenset(("boat",)))]


READERS = (
    *readers_of(language, "is_filler", "singular", "content_words"),
    *readers_of(words, "stem", "words_as_written", "stems_of_name"),
    *readers_of(dates, "iso_dates_in"),
    *readers_of(briefing_text, "read_briefing"),
    *readers_of(tried, "tried_calls"),
    *readers_of(step_text, "read_step"),
    Reader("read_question", lambda text: question.read_question(text, _NOUNS), _ASKED),
    Reader("find_numbers", lambda text: spans.find_numbers(text, _NOUNS), (spans, language)),
    Reader("find_entities", _entities, (spans, language)),
    Reader("slots", _slots, (spans, language, question_values), (), 1, _QUESTIONS),
    Reader("text parameters", _of_a_parameter("string"), _READ_OF_NAMES, _NAMES, 40),
    Reader("number parameters", _of_a_parameter("integer"), _READ_OF_NAMES, _NAMES, 40),
    Reader("keys", _with_a_key, _READ_OF_NAMES, _NAMES, 40),
    Reader("same names", _same_names, (), _NAMES),
    Reader("first reply", _first_reply, (question, spans, question_values, forms)),
)


@each_row("reader", READERS, ids=str)
def test_the_reading_of_every_form_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
