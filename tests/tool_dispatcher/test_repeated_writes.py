"""A write that the model requests twice is made once, and each repetition is reported."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import ToolResult

from tests.tool_dispatcher.builders import Dispatcher, a_bus, error_in
from tests.tool_dispatcher.repeating import SWITCH, UNKNOWN, Effects, Rounds, asks, forget_journal
from tool_dispatcher.authoring.failures import ToolFailed
from tool_dispatcher.authoring.tool import Tool

A, B = {"to": "a"}, {"to": "b"}


@pytest.fixture
async def bus() -> AsyncIterator[Bus]:
    async with a_bus() as bus:
        yield bus


@pytest.fixture
def effects() -> Effects:
    return Effects()


async def rounds_of(bus: Bus, *tools: Tool, **settings: Any) -> Rounds:
    return Rounds(Dispatcher(list(tools), bus, **settings))


def kinds(results: tuple[ToolResult, ...]) -> list[str]:
    """Return `ok`, `repeated`, or the error type, for each result."""
    return [one.error.error_type if one.error else "repeated" if one.repeated else "ok" for one in results]


class TestTheKey:
    async def test_a_key_consists_of_tenant_session_tool_arguments_and_ordinal(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        await session.run(asks("c1", "mail", A))
        ((_, key),) = effects.runs
        tenant, session_id, tool, digest, ordinal = key.split("/")
        assert (tenant, session_id, tool, ordinal) == ("default", "s1", "mail", "1")
        assert len(digest) == 32

    async def test_does_not_depend_on_round_and_call(self, effects: Effects) -> None:
        for id in ("c1", "c2"):
            async with a_bus() as own:  # one that has lost all it knew
                session = await rounds_of(own, effects.tool("mail"))
                session.round = len(id)
                await session.run(asks(id, "mail", A))
        (_, first), (_, second) = effects.runs
        assert first == second

    @pytest.mark.parametrize(
        ("one", "other", "is_same"),
        [
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
            ({"a": {"x": 1, "y": [1]}}, {"a": {"y": [1], "x": 1}}, True),
            ({"a": [1, 2]}, {"a": [2, 1]}, False),
            ({"a": 1}, {"a": 1.0}, False),
            ({"a": 1}, {"a": True}, False),
            ({"a": 1}, {"a": "1"}, False),
            ({"a": "é"}, {"a": "e\u0301"}, False),
            ({"a": None}, {}, False),
        ],
        ids=str,
    )
    async def test_goes_by_the_canonical_arguments(
        self, bus: Bus, effects: Effects, one: Any, other: Any, is_same: bool
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        await session.run(asks("c1", "mail", one))
        await session.run(asks("c2", "mail", other))
        assert effects.count == (1 if is_same else 2)

    async def test_the_key_includes_the_defaults_of_the_schema(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("mail", parameters=SWITCH))
        await session.run(asks("c1", "mail", A))
        assert kinds(await session.run(asks("c2", "mail", {**A, "loud": False}))) == ["repeated"]
        assert kinds(await session.run(asks("c3", "mail", {**A, "loud": True}))) == ["ok"]

    async def test_the_key_includes_the_values_of_placeholders(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("mail"), effects.tool("look", "read"))
        look = asks("c1", "look", {"to": "a"})
        await session.run(look, asks("c2", "mail", {"to": "${calls[0].to}"}))
        assert kinds(await session.run(asks("c3", "mail", A))) == ["repeated"]

    async def test_a_key_minted_by_the_coordinator_is_used(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        for id in ("c1", "c2"):
            await session.run(asks(id, "mail", A, idempotency_key=f"default/s1/1/{id}"))
        assert [key for _, key in effects.runs] == ["default/s1/1/c1", "default/s1/1/c2"]


class TestAnIdenticalWrite:
    async def test_an_equal_write_in_a_later_round_is_answered_from_the_record(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        (first,) = await session.run(asks("c1", "mail", A))
        (second,) = await session.run(asks("c2", "mail", A))
        assert effects.count == 1
        assert (second.status, second.data, second.call_id) == ("ok", first.data, "c2")
        assert second.repeated is not None
        assert (second.repeated.call_id, second.repeated.round) == ("c1", 1)
        assert second.repeated.at is not None

    async def test_a_repeated_write_reports_that_nothing_was_done_and_how_to_repeat_it(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        await session.run(asks("c1", "mail", A))
        (second,) = await session.run(asks("c2", "mail", A))
        assert second.repeated is not None
        line = second.repeated.line("mail")
        assert "\n" not in line
        assert "Nothing was done again" in line
        assert 'repeat_call(call_id="c1"' in line

    @pytest.mark.parametrize("mode", ["sequential-only", "parallel-safe"])
    async def test_an_equal_write_in_the_same_batch_is_answered_from_the_record(
        self, bus: Bus, effects: Effects, mode: Any
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail", mode=mode))
        results = await session.run(asks("c1", "mail", A), asks("c2", "mail", A), asks("c3", "mail", A))
        assert kinds(results) == ["ok", "repeated", "repeated"]
        assert effects.count == 1

    async def test_an_equal_write_in_another_session_runs(self, bus: Bus, effects: Effects) -> None:
        dispatcher = Dispatcher([effects.tool("mail")], bus)
        for id in ("s1", "s2"):
            assert kinds(await Rounds(dispatcher, id).run(asks("c1", "mail", A))) == ["ok"]
        assert effects.count == 2

    async def test_reads_are_not_touched(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("look", "read"))
        assert kinds(await session.run(asks("c1", "look", A), asks("c2", "look", A))) == ["ok", "ok"]
        assert effects.count == 2

    async def test_a_repeated_write_receives_the_same_result_when_the_batch_is_taken_over(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        await session.run(asks("c1", "mail", A))
        results = await session.run(asks("c2", "mail", A))
        assert await session.again(asks("c2", "mail", A)) == results
        await forget_journal(bus, 2)
        assert await session.again(asks("c2", "mail", A)) == results

    @pytest.mark.parametrize("kind", ["api_failure", "rate_limit", "validation_error", "not_found"])
    async def test_that_certainly_had_no_effect_runs_again_under_the_same_key(
        self, bus: Bus, effects: Effects, kind: Any
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail", retry=1))
        effects.next = [ToolFailed(kind, "Turned away.")]
        assert kinds(await session.run(asks("c1", "mail", A))) == [kind]
        assert kinds(await session.run(asks("c2", "mail", A))) == ["ok"]
        assert kinds(await session.run(asks("c3", "mail", A))) == ["repeated"]
        ((_, key),) = effects.runs
        assert key.endswith("/1")

    async def test_an_equal_write_after_an_unclassified_exception_does_not_run_again(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        effects.next = [RuntimeError("oops")]
        (first,) = await session.run(asks("c1", "mail", A))
        (second,) = await session.run(asks("c2", "mail", A))
        assert error_in(first)
        assert second.status == "error"
        assert second.repeated is not None
        assert effects.count == 0


class TestAnotherWriteInBetween:
    async def test_refuses_the_repetition_and_names_the_ways_on(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("set"))
        await session.run(asks("c1", "set", A))
        await session.run(asks("c2", "set", B))
        (third,) = await session.run(asks("c3", "set", A))
        error = error_in(third)
        assert error.error_type == "repeated_write"
        assert 'repeat_call(call_id="c1"' in error.suggested_action
        assert "reading tool" in error.suggested_action
        assert "round 2" in error.message
        assert effects.count == 2

    @pytest.mark.parametrize("mode", ["sequential-only", "parallel-safe"])
    async def test_an_overwritten_write_is_not_repeated_within_one_batch(
        self, bus: Bus, effects: Effects, mode: Any
    ) -> None:
        session = await rounds_of(bus, effects.tool("set", mode=mode, error_propagation="partial-success"))
        results = await session.run(asks("c1", "set", A), asks("c2", "set", B), asks("c3", "set", A))
        assert kinds(results) == ["ok", "ok", "repeated_write"]

    async def test_a_later_call_of_the_same_batch_is_not_in_between(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("set", mode="parallel-safe"))
        await session.run(asks("c1", "set", A))
        assert kinds(await session.run(asks("c2", "set", A), asks("c3", "set", B))) == ["repeated", "ok"]

    async def test_the_same_batch_again_is_refused_but_for_its_last_write(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail", error_propagation="partial-success"))
        await session.run(asks("c1", "mail", A), asks("c2", "mail", B))
        results = await session.run(asks("d1", "mail", A), asks("d2", "mail", B))
        assert kinds(results) == ["repeated_write", "repeated"]
        assert effects.count == 2

    @pytest.mark.parametrize(
        ("failure", "kind"),
        [(ToolFailed("api_failure", "Away."), "repeated"), (UNKNOWN, "repeated_write")],
        ids=["certainly none", "perhaps one"],
    )
    async def test_only_a_write_that_may_have_had_an_effect_counts_as_overwriting(
        self, bus: Bus, effects: Effects, failure: ToolFailed, kind: str
    ) -> None:
        session = await rounds_of(bus, effects.tool("set", retry=1))
        await session.run(asks("c1", "set", A))
        effects.next = [failure]
        await session.run(asks("c2", "set", B))
        assert kinds(await session.run(asks("c3", "set", A))) == [kind]

    async def test_a_repetition_is_decided_once_despite_later_writes(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("set"))
        await session.run(asks("c1", "set", A))
        results = await session.run(asks("c2", "set", A))
        await session.run(asks("c3", "set", B))
        session.round = 2
        await forget_journal(bus, 2)
        assert await session.again(asks("c2", "set", A)) == results


class TestADeliberateRepetition:
    async def test_raises_the_ordinal(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        await session.run(asks("c1", "mail", A))
        assert kinds(await session.run(asks("r1", "mail", A, repeat_of="c1"))) == ["ok"]
        assert kinds(await session.run(asks("r2", "mail", A, repeat_of="c1"))) == ["ok"]
        assert [key.rsplit("/", 1)[1] for _, key in effects.runs] == ["1", "2", "3"]

    async def test_a_deliberate_repetition_becomes_the_first_call_for_later_ones(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("set"))
        await session.run(asks("c1", "set", A))
        await session.run(asks("c2", "set", B))
        await session.run(asks("r1", "set", A, repeat_of="c1"))
        (last,) = await session.run(asks("c3", "set", A))
        assert last.repeated is not None
        assert last.repeated.call_id == "r1"

    async def test_two_deliberate_repetitions_in_one_reply_are_two_writes(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        await session.run(asks("c1", "mail", A))
        twice = (asks("r1", "mail", A, repeat_of="c1"), asks("r2", "mail", A, repeat_of="c1"))
        assert kinds(await session.run(*twice)) == ["ok", "ok"]
        assert effects.count == 3
        assert effects.once_each

    async def test_taken_over_is_the_same(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("mail"))
        await session.run(asks("c1", "mail", A))
        results = await session.run(asks("r1", "mail", A, repeat_of="c1"))
        await forget_journal(bus, 2)
        assert await session.again(asks("r1", "mail", A, repeat_of="c1")) == results
        assert effects.count == 2

    async def test_twice_at_once_does_not_come_between_itself(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("mail", mode="parallel-safe"))
        await session.run(asks("c1", "mail", A))
        again = [asks(id, "mail", A, repeat_of="c1") for id in ("r1", "r2")]
        assert kinds(await session.run(*again, asks("c2", "mail", A))) == ["ok", "ok", "repeated"]
        assert effects.count == 3


class TestUnknown:
    async def test_stays_unknown_for_an_identical_call(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("pay"))
        effects.next = [UNKNOWN]
        assert kinds(await session.run(asks("c1", "pay", A))) == ["outcome_unknown"]
        (second,) = await session.run(asks("c2", "pay", A))
        assert error_in(second).error_type == "outcome_unknown"
        assert second.repeated is not None
        assert second.repeated.call_id == "c1"
        assert "A person has to approve" in error_in(second).suggested_action
        assert effects.count == 0

    @pytest.mark.parametrize("can_be_asked", [True, False], ids=["reconciled", "idempotent"])
    async def test_an_uncertain_write_runs_again_under_the_same_key_where_that_is_safe(
        self, bus: Bus, effects: Effects, can_be_asked: bool
    ) -> None:
        """The service says for certain that it had no effect, or a second run has no second one."""
        keyed = effects.tool("pay", idempotent=True, retry=1)
        session = await rounds_of(bus, effects.reconciled("pay") if can_be_asked else keyed)
        effects.next = [UNKNOWN]
        assert kinds(await session.run(asks("c1", "pay", A))) == ["outcome_unknown"]
        (second,) = await session.run(asks("c2", "pay", A))
        assert (second.status, second.settles) == ("ok", "c1")
        assert kinds(await session.run(asks("c3", "pay", A))) == ["repeated"]
        ((_, key),) = effects.runs
        assert key.endswith("/1")

    async def test_that_reconcile_finds_done_is_the_first_calls(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, tool := effects.reconciled("pay"))
        effects.next = [UNKNOWN]
        await session.run(asks("c1", "pay", A))
        record = await bus.client.execute_command("KEYS", "*effect:*")
        effects.runs.append(("pay", record[0].decode().partition("effect:")[2]))
        (second,) = await session.run(asks("c2", "pay", A))
        assert second.data == "found"
        assert second.repeated is not None
        assert second.repeated.call_id == "c1"
        assert tool.reconcile is not None

    async def test_an_uncertain_write_is_repeated_only_with_approval(
        self, bus: Bus, effects: Effects
    ) -> None:
        session = await rounds_of(bus, effects.tool("pay"))
        effects.next = [UNKNOWN]
        await session.run(asks("c1", "pay", A))
        (second,) = await session.run(asks("r1", "pay", A, repeat_of="c1"))
        error = error_in(second)
        assert error.error_type == "permission_denied"
        assert "person" in error.message
        assert effects.count == 0


class TestTheContract:
    async def test_run_counts_earlier_identical_calls(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("next_page", repeat="run"))
        await session.run(asks("c1", "next_page"), asks("c2", "next_page"))
        await session.run(asks("c3", "next_page"))
        assert [key.rsplit("/", 1)[1] for _, key in effects.runs] == ["1", "2", "3"]

    async def test_run_keeps_its_ordinal_when_taken_over(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("next_page", repeat="run"))
        calls = asks("c1", "next_page"), asks("c2", "next_page")
        results = await session.run(*calls)
        await forget_journal(bus, 1)
        assert await session.again(*calls) == results
        assert effects.count == 2

    async def test_ask_refuses_until_a_person_agrees(self, bus: Bus, effects: Effects) -> None:
        session = await rounds_of(bus, effects.tool("press", repeat="ask"))
        assert kinds(await session.run(asks("c1", "press"))) == ["ok"]
        assert kinds(await session.run(asks("c2", "press"))) == ["repeated_write"]
        assert kinds(await session.run(asks("r1", "press", repeat_of="c1"))) == ["permission_denied"]
        assert effects.count == 1
