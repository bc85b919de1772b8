"""What the offline model reads in every form of its patterns and every word of its tables: every_form.json.

After a change that is meant: `python -m tests.reasoning_engine.offline.test_every_form`, and read what it has written.
"""

from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.text import dates, words

from context_synthesizer.desk import Desk
from reasoning_engine.offline import (
    briefing_text,
    demand,
    forms,
    language,
    plan,
    question,
    question_values,
    scalars,
    spans,
    step_calls,
    step_text,
    tried,
    values,
    verdicts,
)
from reasoning_engine.offline.reasoner import Request, reply_to
from reasoning_engine.offline.schema import Tool
from tests.kept_forms import Reader, differences, readers_of, write
from tests.reasoning_engine.offline.rounds import TOKENS_MAX
from tests.reasoning_engine.offline.test_golden import ODD_TOOLS

KEPT = Path(__file__).with_name("every_form.json")
_NOUNS = frozenset(("lesson", "book", "room", "nut"))
_OFFERED = tuple(Tool(tool.name, tool.description, tool.schema) for tool in ODD_TOOLS)
_ASKED = (question, spans, question_values, language, forms, values, scalars, plan, demand, step_calls)


def _entities(text: str) -> Any:
    return spans.find_entities(text, _NOUNS, spans.find_numbers(text, _NOUNS))


def _first_reply(text: str) -> Any:
    """What it does first about a question in which the text stands."""
    asked = f"Find {text} nuts of Oslo."
    return reply_to(Request(Desk(asked, TOKENS_MAX).briefing(1, 4).text, _OFFERED))


READERS = (
    *readers_of(language, "is_filler", "singular", "content_words"),
    *readers_of(words, "stem", "words_as_written", "stems_of_name"),
    *readers_of(dates, "iso_dates_in"),
    *readers_of(briefing_text, "read_briefing"),
    *readers_of(verdicts, "refusal_in"),
    *readers_of(tried, "tried_calls"),
    *readers_of(step_text, "read_step", "step_begun"),
    Reader("read_question", lambda text: question.read_question(text, _NOUNS), _ASKED),
    Reader("find_numbers", lambda text: spans.find_numbers(text, _NOUNS), (spans, language)),
    Reader("find_entities", _entities, (spans, language)),
    Reader("first reply", _first_reply, (question, spans, question_values, forms)),
)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_each_form_is_read_as_it_was(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
