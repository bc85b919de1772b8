"""Natural questions over tools as beginners write them: a search that finds a text only as it is written."""

from collections.abc import Callable
from typing import Any

import pytest

from antiphon import tool
from reasoning_engine.prompt import tool_params
from tests.reasoning_engine.offline.rounds import Asked, OfferedTool, ask
from tool_dispatcher.authoring.tool import FunctionTool

PARTS = [
    {"id": "P-1", "name": "Brass nut M4", "material": "brass", "stock": 120},
    {"id": "P-2", "name": "Steel nut M4", "material": "steel", "stock": 40},
    {"id": "P-3", "name": "Brass washer M4", "material": "brass", "stock": 9},
    {"id": "P-4", "name": "Copper pipe 15 mm", "material": "copper", "stock": 3},
]


def like(text: str) -> list[dict[str, Any]]:
    """Match as `WHERE name LIKE '%text%'` does."""
    return [part for part in PARTS if text.lower() in str(part["name"]).lower()]


def find_parts(text: str) -> list[dict[str, Any]]:
    """Find parts in stock by words of their name."""
    return like(text)


def search(query: str, limit: int = 10) -> list[dict[str, Any]]:
    """Search the parts."""
    return like(query)[:limit]


def lookup(words: str) -> list[dict[str, Any]]:
    """Look parts up."""
    return like(words)


def stock(item: str) -> list[dict[str, Any]]:
    """Return the stock of an item."""
    return like(item)


def find_by(name: str, material: str = "") -> list[dict[str, Any]]:
    """Find parts by name and material."""
    return [part for part in like(name) if material in str(part["material"])]


def parts_of(material: str, kind: str) -> list[dict[str, Any]]:
    """Find parts of a material and a kind."""
    return [part for part in like(kind) if material in str(part["material"])]


def list_parts() -> list[dict[str, Any]]:
    """List all parts in stock."""
    return PARTS


def count_parts() -> int:
    """Count the parts."""
    return len(PARTS)


async def asked(question: str, *functions: Callable[..., Any]) -> Asked:
    return await asked_of(question, *(tool(effect="read")(function) for function in functions))


async def asked_of(question: str, *tools: FunctionTool[Any, Any]) -> Asked:
    """Ask with the tools as the engine sends them: without their contracts."""
    sent = tool_params([each.definition for each in tools])
    offered = [
        OfferedTool(param["name"], param["description"], dict(param["input_schema"]), each)
        for param, each in zip(sent, tools, strict=True)
    ]
    return await ask(question, tuple(offered), rounds_max=4)


@pytest.mark.parametrize("function", [find_parts, search, lookup, stock, find_by, parts_of, list_parts])
@pytest.mark.parametrize("question", ["Which brass nuts do we have?", "Which nuts are made of brass?"])
async def test_a_search_as_beginners_write_it_is_found_its_answer(
    question: str, function: Callable[..., Any]
) -> None:
    """The name has neither the plural nor the words in this order; the answer has no other parts."""
    answer = (await asked(question, function)).answer
    assert "Brass nut M4" in answer
    assert "Steel nut" not in answer
    assert "found nothing" not in answer


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("How many brass nuts are in stock?", "stock: 120"),
        ("Do we have any copper pipes?", "Copper pipe 15 mm"),
        ("What do we have in brass?", "Brass washer"),
        ("Tell me about washers.", "Brass washer"),
        ("brass nuts", "Brass nut"),
        ("List all parts", "Copper pipe"),
    ],
)
async def test_question_words_do_not_prevent_a_hit(question: str, found: str) -> None:
    assert found in (await asked(question, find_parts)).answer


def order_part(name: str, count: int) -> dict[str, Any]:
    """Order more of a part, by its exact name."""
    return {"ordered": name, "count": count}


@pytest.mark.parametrize("question", ['Order 50 of part "Brass nut M4"', 'Order 50 of "Brass nut M4".'])
async def test_a_write_that_is_asked_for_gets_the_name_and_the_amount(question: str) -> None:
    rounds = (await asked_of(question, tool(effect="write")(order_part))).rounds
    assert [[call.arguments for call in calls] for calls in rounds] == [
        [{"name": "Brass nut M4", "count": 50}]
    ]


def repair(pump: str) -> str:
    """Repair a pump."""
    return f"repaired {pump}"


@pytest.mark.parametrize(
    "question", ['Repair pump "P7"', "Repair pump P7.", 'It is broken. Repair "P7".', "Please repair P7"]
)
async def test_the_verb_of_a_write_is_not_taken_for_a_name(question: str) -> None:
    rounds = (await asked_of(question, tool(effect="write")(repair))).rounds
    assert [[call.arguments for call in calls] for calls in rounds] == [[{"pump": "P7"}]]


def reserve_part(name: str) -> str:
    """Reserve a part."""
    return f"reserved {name}"


WRITES: list[dict[str, Any]] = [
    {},
    {"idempotent": True},
    {"idempotent": True, "max_concurrency": 2},
    {"mode": "parallel-safe"},
]


@pytest.mark.parametrize("contract", WRITES)
@pytest.mark.parametrize("question", ["Which brass parts do we have?", "How many parts of ours are there?"])
async def test_a_question_changes_nothing(question: str, contract: dict[str, Any]) -> None:
    reads = [tool(effect="read")(function) for function in (find_parts, count_parts)]
    asked_for = await asked_of(question, *reads, tool(effect="write", **contract)(reserve_part))
    assert asked_for.rounds
    assert "reserve_part" not in [name for names in asked_for.called() for name in names]


def find_notes(query: str) -> list[dict[str, Any]]:
    """Find notes."""
    return []


async def test_a_search_without_hits_is_abandoned_after_one_round_of_alternatives() -> None:
    """Two rounds of tools, not one for each tool, so that the rounds are not used up."""
    asked_for = await asked("Who won the snooker championship?", search, find_notes)
    assert [set(names) for names in asked_for.called()] == [{"search"}, {"search", "find_notes"}]
    assert "I found nothing that answers this." in asked_for.answer
    assert asked_for.answer.count("- search: found nothing") == 1


async def test_a_counting_tool_is_not_an_alternative_to_a_search_without_hits() -> None:
    assert (
        "count_parts" not in (await asked("Is anything by Tolstoy here?", search, count_parts)).called()[-1]
    )


async def test_a_search_that_found_nothing_is_followed_by_closer_and_then_by_single_words() -> None:
    rounds = (await asked("Which brass nuts?", find_parts)).rounds
    assert [[call.arguments["text"] for call in calls] for calls in rounds] == [
        ["brass nuts"],
        ["brass nut", "nut", "brass"],
    ]


async def test_a_requested_number_becomes_the_limit_and_no_search_word() -> None:
    rounds = (await asked("Show me 2 nuts", search)).rounds
    assert [call.arguments for calls in rounds for call in calls] == [
        {"query": "nuts", "limit": 2},
        {"query": "nut", "limit": 2},
    ]


async def test_a_question_for_a_number_goes_to_the_tool_that_counts() -> None:
    asked_for = await asked("How many parts are there?", list_parts, count_parts)
    assert asked_for.called() == [["count_parts"]]
    assert (await asked("Which parts are there?", list_parts, count_parts)).called() == [["list_parts"]]


async def test_each_of_two_requested_items_is_looked_up_and_quoted() -> None:
    def get_book(book: str) -> dict[str, Any]:
        return {"book": book, "pages": 100 * len(book)}

    schema = {"type": "object", "properties": {"book": {"type": "string"}}, "required": ["book"]}
    books = OfferedTool("get_book", "Returns a book with its pages.", schema, get_book)
    asked = await ask('How many pages do book "Emma" and book "Moby Dick" have?', (books,))
    assert asked.called() == [["get_book", "get_book"]]
    assert "book: Emma · pages: 400 [F1]" in asked.answer
    assert "book: Moby Dick · pages: 900 [F2]" in asked.answer
