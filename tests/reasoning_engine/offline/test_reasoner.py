"""The offline model answers questions over tool sets it has never seen, in dependent rounds."""

import json
import re
from pathlib import Path

import pytest
from antiphon_shared.tools.ask_user import ASK_USER_PARAMETERS
from antiphon_shared.tools.relevance import ASK_USER
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples.courses.corpus import all_courses
from reasoning_engine.offline.answer import SIGNATURE
from reasoning_engine.offline.language import word_set
from reasoning_engine.offline.reasoner import Request, reply_to
from reasoning_engine.offline.schema import Tool
from tests.examples.courses.answer_key import SAME_TOPIC_AS_LESSON_4
from tests.reasoning_engine.offline.course_tools import COURSE_TOOLS
from tests.reasoning_engine.offline.rounds import OfferedTool, ask
from tests.reasoning_engine.offline.town_tools import TOWN_TOOLS, booked

FORMS = (
    'Find a course that discusses the same topic as lesson 4 of course "{}".',
    "Find a course that discusses the same topic as lesson 4 of the course {}",
    "Which other course covers the topic of the fourth lesson of {}?",
)
ORDINARY_WORDS = word_set("that what first small with from into right most reading without")
"""Words of titles that are ordinary English and may occur anywhere."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("course", SAME_TOPIC_AS_LESSON_4)
async def test_a_question_for_the_same_topic_reads_an_outline_and_then_searches_for_its_title(
    course: str, form: str
) -> None:
    other, number = SAME_TOPIC_AS_LESSON_4[course]
    asked = await ask(form.format(course), COURSE_TOOLS)

    assert asked.called() == [["get_course_outline"], ["search_course_content"]]
    title = next(c for c in all_courses() if c.title == course).lessons[3].title
    assert asked.rounds[1][0].arguments == {"query": title}
    assert asked.answer.startswith(f"**{other}**")
    cited = re.findall(r"\[(F\d+)\]", asked.answer)
    facts = asked.memory.facts
    found = json.loads(facts[cited[0]].statement)
    assert (found["course"], found["lesson"]) == (other, number)
    assert set(cited) <= set(facts)
    assert asked.answer.endswith(SIGNATURE)


@pytest.mark.parametrize("name", ["Databases", "Kitchen Microbiolgy"])
async def test_a_misremembered_name_still_leads_to_another_course(name: str) -> None:
    asked = await ask(
        f"Find a course that discusses the same topic as lesson 4 of course {name}", COURSE_TOOLS
    )
    meant = {
        "D": "Databases from First Principles",
        "K": "Kitchen Microbiology",
    }
    assert asked.answer.startswith(f"**{SAME_TOPIC_AS_LESSON_4[meant[name[0]]][0]}**")


async def test_an_unknown_reference_is_reported_and_not_guessed() -> None:
    asked = await ask("Find a course on the same topic as lesson 4 of course Quantum Knitting", COURSE_TOOLS)
    assert "could not find out what lesson 4 of “Quantum Knitting” is" in asked.answer
    assert "- get_course_outline: " in asked.answer.partition("Tried without success:")[2]
    assert asked.answer.endswith(SIGNATURE)


async def test_a_shortened_briefing_still_resolves_the_reference() -> None:
    """Facts cut short by the token budget still resolve the reference."""
    question = "Find a course that discusses the same topic as lesson 4 of course Bread from Scratch"
    asked = await ask(question, COURSE_TOOLS, tokens_max=700)
    assert asked.answer.startswith("**Kitchen Microbiology**")


@pytest.mark.parametrize(
    ("question", "calls", "found"),
    [
        (
            "What is lesson 4 of course Bread from Scratch about?",
            ["get_course_outline", "search_course_content"],
            "Feed it",
        ),
        (
            "What does lesson 2 of the Databases course say about checkpoints?",
            ["search_course_content"],
            "Checkpoints bound",
        ),
        ("Which course discusses vector clocks?", ["search_course_content"], "Operating Distributed Systems"),
        ("What lessons does the course Home Dairy have?", ["get_course_outline"], "Salting Cheese in Brine"),
    ],
)
async def test_plain_questions_about_courses_are_answered_by_quoting(
    question: str, calls: list[str], found: str
) -> None:
    asked = await ask(question, COURSE_TOOLS)
    assert [call.name for calls_of_round in asked.rounds for call in calls_of_round] == calls
    assert found in asked.answer


@pytest.mark.parametrize(
    ("question", "calls", "found"),
    [
        ("Which books does Ada Lovelace have on loan?", [["reader_card"], ["loans_of"]], "Analytical Engine"),
        (
            "Which books does Ada Lovelce have on loan?",
            [["reader_card"], ["reader_card"], ["loans_of"]],
            "Dune",
        ),
        ("When was the Blue Whale Skeleton acquired?", [["exhibit_numbers"], ["exhibit_card"]], "1891"),
        (
            'In which room is the exhibit "Roman Bread Oven"?',
            [["exhibit_numbers"], ["exhibit_card"]],
            "room: 2",
        ),
        ("Trains from Oslo to Bergen on 2026-12-24 under 700 kroner", [["trains"]], "08:25"),
        ("Who wrote Harbour Lights?", [["book_finder"]], "Jonas Berg"),
    ],
)
async def test_tools_never_seen_before_are_used_in_dependent_rounds(
    question: str, calls: list[list[str]], found: str
) -> None:
    asked = await ask(question, TOWN_TOOLS)
    assert asked.called() == calls
    assert found in asked.answer
    assert "[F" in asked.answer
    assert asked.answer.endswith(SIGNATURE)


async def test_a_write_is_used_only_on_command_and_once() -> None:
    booked.clear()
    await ask("Which trains go from Oslo to Bergen on 2026-12-24?", TOWN_TOOLS)
    assert booked == []
    asked = await ask("Please reserve a train from Oslo to Bergen on 2026-12-24.", TOWN_TOOLS)
    assert booked == [{"origin": "Oslo", "destination": "Bergen", "day": "2026-12-24"}]
    assert "ZX-81" in asked.answer


async def test_an_answer_without_findings_states_that_nothing_was_found() -> None:
    asked = await ask("Why is the moon made of cheese?", COURSE_TOOLS[:1])
    assert "I found nothing that answers this." in asked.answer


async def test_no_call_is_made_twice() -> None:
    for question in ("lesson 4", "Find a course like Quantum Knitting", "hello", "course"):
        asked = await ask(question, COURSE_TOOLS)
        made = [(call.name, str(call.arguments)) for calls in asked.rounds for call in calls]
        assert len(made) == len(set(made))


def test_the_model_contains_no_words_of_the_corpus() -> None:
    folder = Path(__file__).parents[3] / "reasoning_engine" / "offline"
    words = set(re.findall(r"[a-z]+", " ".join(file.read_text() for file in folder.glob("*.py")).lower()))
    titles = [c.title for c in all_courses()] + [lesson.title for c in all_courses() for lesson in c.lessons]
    in_titles = {word for word in re.findall(r"[a-z]+", " ".join(titles).lower()) if len(word) > 3}
    in_courses = {w for c in all_courses() for w in re.findall(r"[a-z]+", c.title.lower()) if len(w) > 3}
    assert in_courses & words <= ORDINARY_WORDS
    assert len(in_titles - words) > 0.8 * len(in_titles)
    source = " ".join(file.read_text() for file in folder.glob("*.py")).lower()
    assert [title for title in titles if title.lower() in source] == []
    assert {tool.name for tool in (*COURSE_TOOLS, *TOWN_TOOLS) if tool.name in source} == set()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["query", "course_id", "lesson_number", "from", "to", "day", "name", "type", "items", "ids"]
)
TYPES = st.sampled_from(
    ["string", "integer", "number", "boolean", "array", "object", "null", 7, ["string", "null"]]
)
PROPERTY = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES,
        "enum": JSON,
        "const": JSON,
        "items": JSON | st.fixed_dictionaries({"type": TYPES}),
        "$ref": st.sampled_from(["#", "#/properties/query", "#/$defs/x", "nowhere"]),
        "anyOf": JSON | st.lists(st.fixed_dictionaries({"type": TYPES}), max_size=3),
        "minimum": JSON,
        "maxLength": JSON,
        "default": JSON,
        "description": JSON,
    },
)
SCHEMAS = JSON.filter(lambda value: isinstance(value, dict)) | st.fixed_dictionaries(
    {"properties": st.dictionaries(NAMES, PROPERTY | JSON, max_size=4)},
    optional={"required": st.lists(NAMES, max_size=4) | JSON, "x-orchestration": JSON},
)
WORDS = st.sampled_from(
    sorted(
        word_set(
            'find a course same topic as lesson 4 of "X Y" like Ada from Oslo to 2026-01-01 F1 <result # Facts'
        )
    )
)
QUESTIONS = st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=200)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    question=QUESTIONS,
    schemas=st.lists(SCHEMAS, max_size=3),
    content=JSON | st.text(max_size=200),
    tried=JSON,
)
def test_no_request_is_too_strange(
    question: str, schemas: list[dict[str, object]], content: object, tried: object
) -> None:
    tools = tuple(
        Tool(f"get_course_{n}", "Find a course by query.", schema) for n, schema in enumerate(schemas)
    )
    text = (
        f"# Question\n{question}\n\n# Facts\n"
        '<result call="c" tool="get_course_0" round="1" trust="tool">\n'
        f"F1 {content if isinstance(content, str) else json.dumps(content)}\n</result>\n\n"
        f"# Tools tried\n- round 1: get_course_0 {tried} -> ok: F1-F3\n\n# Now\nRound 2 of at most 4."
    )
    for asked in (text, question):
        reply = reply_to(Request(asked, tools))
        assert reply.text
        assert reply.tool_uses or reply.text.endswith(SIGNATURE)
        assert {use.name for use in reply.tool_uses} <= {tool.name for tool in tools}
        assert reply == reply_to(Request(asked, tools))


async def test_the_offline_model_asks_the_user_nothing() -> None:
    """Facts that they could not find themselves they could not ask for either."""
    description = "Asks the user one question and waits for the answer."
    asking = OfferedTool(ASK_USER, description, ASK_USER_PARAMETERS, lambda question: {"answer": "Red."})
    asked = await ask('Which answer did the user give to the question "Which room?"', (asking,))
    assert asked.called() == []
