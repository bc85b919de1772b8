"""The tool `recall`: earlier tool results are returned whole, as long as any part of them is stored."""

from typing import Any

from antiphon_shared.bus.handling import MEMORY
from antiphon_shared.events import ToolsCompleted
from antiphon_shared.memory.filing import file_round
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.relevance import RECALL

from tests.envelopes import an_event
from tests.fakes import FakeSession
from tests.memories import Call, a_round, an_error
from tests.tool_dispatcher.builders import a_call, a_dispatcher, a_request, a_tool, error_in

PASSAGES = [
    {
        "title": "MCP",
        "text": "MCP lets a model use tools over one protocol. It was introduced in November 2024.",
    },
    {
        "title": "Agents",
        "text": "An agent plans a trip with three servers. The lesson closes with a list of faults.",
    },
]
PAGE = "\n\n".join(f"Rule {n} says that a server keeps no state called S{n}." for n in range(400))


class Past:
    """A session with rounds behind it, filed as the synthesizer files them."""

    def __init__(self) -> None:
        self.store, self.memory, self.rounds, self.calls = FakeSession(), Memory("Why?"), 0, 0

    def round(self, *calls: Call, handles: tuple[str, ...] = ()) -> ToolsCompleted:
        self.rounds += 1
        reasoning, completed = a_round(*calls, round=self.rounds)
        results = tuple(
            result.model_copy(update={"handle": handle})
            for result, handle in zip(completed.results, handles or [""] * len(calls), strict=True)
        )
        completed = ToolsCompleted.of(self.rounds, results)
        entry = f"{self.rounds}-0"
        self.store.log[entry] = an_event(completed)
        self.file(file_round(self.memory, reasoning, completed, entry=entry))
        return completed

    def file(self, delta: MemoryDelta) -> None:
        item = delta.model_dump_json(exclude_defaults=True).encode()
        self.store.lists.setdefault(MEMORY, []).append(item)
        self.memory = self.memory.plus(delta)

    def fact(self, words: str) -> str:
        """Return the id of the first fact with this text."""
        return next(fact.id for fact in self.memory.facts.values() if words in fact.statement)

    async def result(self, id: str, **settings: Any) -> ToolResult:
        self.calls += 1
        call = a_call(f"r{self.calls}", RECALL, arguments={"id": id})
        async with a_dispatcher(a_tool("look", lambda a, c: None), **settings) as dispatcher:
            request = a_request(call, round=self.rounds + 1)
            (result,) = await dispatcher.run(request, session=self.store)
        return result

    async def parts(self, id: str, **settings: Any) -> list[dict[str, Any]]:
        result = await self.result(id, **settings)
        assert result.status == "ok", result
        assert result.data["id"] == id
        parts: list[dict[str, Any]] = result.data["parts"]
        return parts


def searched() -> Past:
    past = Past()
    past.round(
        ("search", {"q": "MCP"}, {"results": PASSAGES}), ("look", {}, an_error("not_found", "No such."))
    )
    return past


async def test_a_fact_brings_back_the_whole_document_it_was_taken_from() -> None:
    past = searched()
    second = {
        "tool": "search",
        "call_id": "toolu_10",
        "round": 1,
        "position": "$.results[1]",
        "content": PASSAGES[1],
    }
    assert await past.parts(past.fact("three servers")) == [second]
    assert await past.parts("D2") == [second]


async def test_several_facts_recall_each_document_once_in_order() -> None:
    past = searched()
    contents = [part["content"] for part in await past.parts(f"F1-F{len(past.memory.facts)}")]
    assert contents == PASSAGES
    assert [part["content"] for part in await past.parts("F1-F99999")] == PASSAGES


async def test_an_id_may_have_the_form_of_a_citation() -> None:
    past = searched()
    for written in ("F1", "[F1]", " f1 ", "F1, F2", "F1–F2"):
        assert [part["content"] for part in await past.parts(written)] == PASSAGES[:1]


async def test_a_call_brings_back_all_it_returned() -> None:
    past = searched()
    (part,) = await past.parts("toolu_10")
    assert (part["position"], part["content"]) == ("$", {"results": PASSAGES})
    (failed,) = await past.parts("toolu_11")
    assert failed["content"]["message"] == "No such."


async def test_the_whole_of_a_result_shown_in_part_is_read() -> None:
    past = Past()
    past.round(("search", {}, {"results": PASSAGES[:1]}), handles=("r1c0",))
    past.store.wholes["result:r1c0"] = ToolsCompleted.of(1, ()).model_dump_json().encode()
    assert (await past.parts("toolu_10"))[0]["content"]["round"] == 1
    past.store.wholes.clear()
    assert (await past.parts("toolu_10"))[0]["content"] == {"results": PASSAGES[:1]}


async def test_the_facts_of_the_memory_are_returned_when_the_log_is_lost() -> None:
    past = searched()
    past.store.log.clear()
    (part,) = await past.parts("D2")
    assert part["position"] == "$.results[1]"
    assert (
        "An agent plans a trip with three servers.\nThe lesson closes with a list of faults."
        in part["content"]
    )
    (whole,) = await past.parts("toolu_10")
    assert "It was introduced in November 2024." in whole["content"]


async def test_an_unknown_id_is_reported_with_the_known_ones() -> None:
    past = searched()
    last = len(past.memory.facts)
    for unknown in ("F99", "D9", "toolu_77", "[]", "F", "$", "F1 or F2\x00", "ü" * 200):
        error = error_in(await past.result(unknown))
        assert error.error_type == "not_found"
        assert error.suggested_action == (
            f"Give one of these: F1 to F{last}, D1 to D2, or a call such as toolu_10, toolu_11."
        )
    empty = error_in(await Past().result("F1"))
    assert empty.suggested_action == "No result has been stored yet."


async def test_the_result_of_an_alternative_is_recalled_under_its_name() -> None:
    past = Past()
    reasoning, completed = a_round(("search", {}, PASSAGES))
    (result,) = completed.results
    results = ToolsCompleted.of(1, (result.model_copy(update={"substitute": "search_archive"}),))
    past.store.log["1-0"] = an_event(results)
    past.file(file_round(past.memory, reasoning, results, entry="1-0"))
    for id in ("F1", "toolu_10"):
        assert [part["tool"] for part in await past.parts(id)] == ["search_archive"]


async def test_a_call_id_used_in_two_rounds_brings_back_both() -> None:
    past = Past()
    for round in (1, 2):
        completed = ToolsCompleted.of(
            round, (ToolResult(index=0, call_id="c", tool="look", status="ok", data=round),)
        )
        past.store.log[f"{round}-0"] = an_event(completed)
        past.file(file_round(past.memory, None, completed, entry=f"{round}-0"))
    assert [(part["round"], part["content"]) for part in await past.parts("c")] == [(1, 1), (2, 2)]
    past.store.log.clear()
    assert [part["content"] for part in await past.parts("c")] == ["1", "2"]


class TestTooLarge:
    def past(self) -> Past:
        past = Past()
        past.round(("read_page", {}, {"url": "x", "body": PAGE}))
        return past

    async def test_a_recalled_document_keeps_its_shape_and_states_how_to_read_on(self) -> None:
        result = await self.past().result("D1", result_bytes_max=2_000)
        (part,) = result.data["parts"]
        assert PAGE.startswith(part["content"]["body"])
        assert len(part["content"]["body"]) > 1_000
        assert f'read_result(handle="{result.handle}"' in result.data["note"]
        assert result.handle == "r2c0"

    async def test_the_fact_that_was_asked_for_comes_first(self) -> None:
        past = self.past()
        wanted = past.fact("S399.")
        result = await past.result(wanted, result_bytes_max=2_000)
        (part,) = result.data["parts"]
        assert "Rule 399 says that a server keeps no state called S399." in part["content"]
        assert part["position"] == past.memory.facts[wanted].position
        assert "1 of 2 items" in result.data["note"]

    async def test_no_answer_is_larger_than_a_result_may_be(self) -> None:
        past = self.past()
        for id in ("F1", f"F1-F{len(past.memory.facts)}", "D1", "toolu_10"):
            result = await past.result(id, result_bytes_max=1_500)
            assert len(result.model_dump_json()) < 1_800


async def test_a_recalled_result_adds_nothing_to_the_memory() -> None:
    past = searched()
    recalled = await past.result(f"F1-F{len(past.memory.facts)}")
    completed = ToolsCompleted.of(2, (recalled,))
    delta = file_round(past.memory, None, completed)
    assert (delta.facts, delta.sightings) == ((), ())
    assert delta.tool_usage[0].facts == (f"F1-F{len(past.memory.facts)}",)


async def test_a_call_without_an_id_is_refused_with_an_example() -> None:
    past = searched()
    error = error_in(await past.result(""))
    assert (error.error_type, error.example_valid_call) == ("validation_error", {"id": "F12"})
