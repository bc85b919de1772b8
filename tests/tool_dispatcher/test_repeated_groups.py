"""Writes of several calls that run as one, round after round: each identity has one effect."""

from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.contract import BatchVariant

from tests.tool_dispatcher.builders import Dispatcher, error_in
from tests.tool_dispatcher.repeating import Rounds, asks, forget_journal
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import ToolFailed
from tool_dispatcher.authoring.reconcile import TookEffect
from tool_dispatcher.authoring.tool import Tool

OFFERED = ("one", "many")
NAMES = ("Oslo", "Bergen", "Bodo", "Hamar", "Narvik")
CITY = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
CITIES = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}


class Post:
    """Writes to many at once, or to one; knows the key of every effect."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.is_lost = False
        """Whether the next run of many takes effect and cannot say so."""

    async def one(self, arguments: dict[str, Any], context: ToolContext) -> str:
        self.sent.append((arguments["to"], context.idempotency_key))
        return f"{arguments['to']} alone"

    async def many(self, arguments: dict[str, Any], context: ToolContext) -> list[str]:
        self.sent += [(item["to"], context.idempotency_key) for item in arguments["items"]]
        if self.is_lost:
            self.is_lost = False
            raise ToolFailed("outcome_unknown", "The line went dead.")
        return [f"{item['to']} of many" for item in arguments["items"]]

    def tools(self, **options: Any) -> list[Tool]:
        batch = BatchVariant(tool="many", argument="items")
        return [
            Tool("one", "One.", CITY, self.one, effect="write", batch=batch, **options),
            Tool("many", "Many.", CITIES, self.many, effect="write", **options),
        ]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.sent]


def all_of(id: str, *names: str) -> list[RequestedCall]:
    return [asks(f"{id}{n}", "one", {"to": name}) for n, name in enumerate(names or NAMES)]


@pytest.fixture
def post() -> Post:
    return Post()


async def rounds(bus: Bus, post: Post, **options: Any) -> Rounds:
    return Rounds(Dispatcher(post.tools(**options), bus))


async def run(session: Rounds, *calls: RequestedCall) -> tuple[ToolResult, ...]:
    return await session.run(*calls, allowed=OFFERED)


async def test_a_group_runs_under_one_key_made_of_all_its_arguments(bus: Bus, post: Post) -> None:
    session = await rounds(bus, post)
    results = await run(session, *all_of("a"))
    assert [one.data for one in results] == [f"{name} of many" for name in NAMES]
    (key,) = {key for _, key in post.sent}
    assert key.startswith("default/s1/many/")
    assert key.endswith("/1")


async def test_a_single_call_already_done_by_a_group_is_answered_by_its_part(bus: Bus, post: Post) -> None:
    session = await rounds(bus, post)
    await run(session, *all_of("a"))
    (again,) = await run(session, asks("c1", "one", {"to": "Bodo"}))
    assert again.data == "Bodo of many"
    assert again.repeated is not None
    assert post.names == list(NAMES)


async def test_the_same_group_again_does_nothing(bus: Bus, post: Post) -> None:
    session = await rounds(bus, post)
    await run(session, *all_of("a"))
    again = await run(session, *all_of("b"))
    assert [one.data for one in again] == [f"{name} of many" for name in NAMES]
    assert all(one.repeated is not None for one in again)
    assert post.names == list(NAMES)


async def test_a_group_omits_a_part_already_done_by_a_single_call(bus: Bus, post: Post) -> None:
    session = await rounds(bus, post)
    await run(session, asks("c1", "one", {"to": "Bodo"}))
    results = await run(session, *all_of("a"))
    assert sorted(post.names) == sorted(NAMES)
    assert [one.repeated is not None for one in results] == [name == "Bodo" for name in NAMES]


async def test_a_group_that_is_taken_over_receives_the_same_results(bus: Bus, post: Post) -> None:
    session = await rounds(bus, post)
    first = await run(session, *all_of("a"))
    await forget_journal(bus, 1)
    assert await session.again(*all_of("a"), allowed=OFFERED) == first
    assert post.names == list(NAMES)


@pytest.mark.parametrize("later", [["Bodo"], list(NAMES)], ids=["one", "all"])
async def test_an_unknown_group_stays_unknown_for_each_of_its_calls(
    bus: Bus, post: Post, later: list[str]
) -> None:
    session = await rounds(bus, post)
    post.is_lost = True
    results = await run(session, *all_of("a"))
    assert {error_in(one).error_type for one in results} == {"outcome_unknown"}
    again = await run(session, *all_of("b", *later))
    assert error_in(again[0]).error_type == "outcome_unknown"
    assert again[0].repeated is not None
    assert {error_in(one).error_type for one in again[1:]} <= {"cancelled"}, "the first has ended the batch"
    assert post.names == list(NAMES)


@pytest.mark.parametrize(
    "options", [{"idempotent": True, "retry": 1}, {"is_asked": True}], ids=["keyed", "asked"]
)
async def test_a_part_of_an_unknown_group_is_not_run_under_its_own_key(
    bus: Bus, post: Post, options: dict[str, Any]
) -> None:
    """The service has seen the key of the group: that of a single call would be news to it."""
    if options.pop("is_asked", False):

        def effect_of(key: str, arguments: dict[str, Any]) -> Any:
            return TookEffect("found") if key in [known for _, known in post.sent] else None

        options = {"reconcile": effect_of}
    session = await rounds(bus, post, **options)
    post.is_lost = True
    first = await run(session, *all_of("a"))
    (again,) = await run(session, asks("c1", "one", {"to": "Bodo"}))
    assert post.names == list(NAMES)
    assert (again.error is None) == (first[2].error is None)
