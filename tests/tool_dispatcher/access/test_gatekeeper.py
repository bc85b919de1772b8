"""A session's rights are checked at the tool, at each delivery, independent of the coordinator's decision."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ApprovalDecided, CancellationRequested, EventData
from antiphon_shared.events import encode as as_json
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.contract import BatchVariant

from tests.envelopes import an_event
from tests.tool_dispatcher.builders import (
    Dispatcher,
    Ledger,
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    error_in,
)
from tests.tool_dispatcher.keys import an_issuer
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool


def counted(name: str, effect: Any = "write", **options: Any) -> tuple[Tool, list[str]]:
    """Return a tool, and the list of its calls that ran."""
    runs: list[str] = []

    async def run(arguments: dict[str, Any], context: ToolContext) -> str:
        runs.append(context.call_id)
        return "done"

    return a_tool(name, run, effect, **options), runs


async def decided(bus: Bus, data: EventData, session_id: str = "s1") -> str:
    """Return the log entry of a person's decision."""
    entry = await bus.batcher.submit("XADD", bus.keys.log(session_id), "*", "event", as_json(an_event(data)))
    return str(entry.decode())


def denied(result: ToolResult) -> str:
    error = error_in(result)
    assert error.error_type == "permission_denied"
    assert error.suggested_action
    return error.message


class TestGrants:
    async def test_without_a_grant_a_session_may_only_read(self) -> None:
        send, sent = counted("send")
        look, looked = counted("look", "read")
        async with a_bus() as bus, a_dispatcher(send, look, bus=bus, default_scopes=("read",)) as dispatcher:
            first, second = await dispatcher.run(a_request(a_call("a", "send"), a_call("b", "look")))
        assert "it needs the scope 'write'" in denied(first)
        assert (second.data, sent, looked) == ("done", [], ["b"])

    async def test_a_grant_gives_its_scopes_for_its_tenant(self, tmp_path: Path) -> None:
        issuer = an_issuer(tmp_path)
        send, sent = counted("send", scopes="crm.contacts")
        async with a_bus() as bus:
            dispatcher = Dispatcher([send], bus, grant_key_file=issuer.key_file)

            async def answer(id: str, grant: str, tenant: str = "acme", node: str = "") -> ToolResult:
                request = a_request(a_call(id, "send"), grant=grant, tenant=tenant, node=node)
                return (await dispatcher.run(request))[0]

            scopes = ["write", "crm.contacts"]
            assert "scope 'crm.contacts'" in denied(await answer("a", issuer.grant(tenant="acme")))
            assert "another tenant" in denied(await answer("b", issuer.grant(scopes, tenant="evil")))
            assert "ended at" in denied(await answer("c", issuer.grant(scopes, -60, tenant="acme")))
            other = issuer.grant(scopes, tenant="acme", session="s9")
            assert "another session" in denied(await answer("d", other))
            assert "has no grant that says so" in denied(await answer("e", ""))
            over = issuer.grant(scopes, -60, tenant="acme")
            assert "ended at" in denied(await answer("g", over, node="book"))
            assert not sent
            assert (await answer("f", issuer.grant(scopes, tenant="acme"))).data == "done"
            assert (await answer("h", over, node="book~undo")).data == "done", "or it could never be undone"
            await dispatcher.close()

    async def test_a_forged_grant_gives_nothing_not_even_the_default(self, tmp_path: Path) -> None:
        issuer = an_issuer(tmp_path)
        (tmp_path / "forger").mkdir()
        forger = an_issuer(tmp_path / "forger")
        look, looked = counted("look", "read")
        async with a_bus() as bus, a_dispatcher(look, bus=bus, grant_key_file=issuer.key_file) as dispatcher:
            (result,) = await dispatcher.run(a_request(a_call(), grant=forger.grant()))
        assert "was not signed by a key that is trusted here" in denied(result)
        assert not looked

    async def test_a_dispatcher_without_a_key_believes_no_grant(self, tmp_path: Path) -> None:
        look, looked = counted("look", "read")
        async with a_dispatcher(look) as dispatcher:
            (result,) = await dispatcher.run(a_request(a_call(), grant=an_issuer(tmp_path).grant()))
        assert "no key for it" in denied(result)
        assert not looked


class TestOffer:
    async def test_a_tool_outside_the_offer_does_not_run(self) -> None:
        send, sent = counted("send")
        async with a_dispatcher(send) as dispatcher:
            (result,) = await dispatcher.run(a_request(a_call(name="send"), allowed=("look",)))
        assert denied(result) == "send is not offered here."
        assert not sent

    @pytest.mark.parametrize(("round", "runs"), [(1, []), (2, ["c1"]), (3, [])])
    async def test_a_tool_of_certain_rounds_runs_in_these(self, round: int, runs: list[str]) -> None:
        look, looked = counted("look", "read", rounds=2)
        async with a_dispatcher(look) as dispatcher:
            await dispatcher.run(a_request(a_call(), round=round))
        assert looked == runs

    async def test_calls_are_not_collapsed_into_a_tool_that_the_session_may_not_use(self) -> None:
        one, runs = counted("look", "read", batch=BatchVariant(tool="many", argument="items"))
        schema = {"properties": {"items": {"type": "array"}}, "required": ["items"]}
        many = Tool("many", "Many.", schema, lambda a, c: ["never"] * 5, effect="read", scopes=("crm",))
        async with a_dispatcher(one, many) as dispatcher:
            calls = [a_call(f"c{n}") for n in range(5)]
            await dispatcher.run(a_request(*calls, allowed=("look", "many")))
        assert sorted(runs) == [f"c{n}" for n in range(5)]

    async def test_a_tool_that_the_dispatcher_lacks_is_reported_as_unknown(self) -> None:
        async with a_dispatcher(default_scopes=()) as dispatcher:
            (result,) = await dispatcher.run(a_request(a_call(name="gone")))
        assert error_in(result).error_type == "unknown_tool"

    async def test_a_call_refused_by_the_coordinator_is_reported_as_cancelled(self) -> None:
        send, _ = counted("send")
        async with a_dispatcher(send, default_scopes=()) as dispatcher:
            (result,) = await dispatcher.run(a_request(a_call(name="send", refused="the limit is reached")))
        assert error_in(result).error_type == "cancelled"


class TestApproval:
    async def answers(
        self,
        decision: EventData | None,
        calls: Sequence[RequestedCall] = (),
        session_id: str = "s1",
        **request: Any,
    ) -> tuple[list[ToolResult], list[str]]:
        """Return the results of calls of a tool that needs approval, and the calls that ran."""
        send, sent = counted("send", error_propagation="partial-success")
        async with a_bus() as bus, a_dispatcher(send, bus=bus, approval=("send",)) as dispatcher:
            entry = None if decision is None else await decided(bus, decision, session_id)
            asked = calls or [a_call(name="send")]
            with_entry = [call.model_copy(update={"approval": entry}) for call in asked]
            results = await dispatcher.run(a_request(*with_entry, **request))
        return list(results), sent

    async def test_an_unapproved_call_does_not_run(self) -> None:
        (result,), sent = await self.answers(None)
        assert "it needs a person's approval, which was not given" in denied(result)
        assert not sent

    async def test_an_approved_call_runs(self) -> None:
        (result,), sent = await self.answers(ApprovalDecided(round=1, is_approved=True, by="Ann"))
        assert (result.data, sent) == ("done", ["c1"])

    async def test_a_denied_call_does_not_run(self) -> None:
        (result,), sent = await self.answers(ApprovalDecided(round=1, is_approved=False, by="Ann"))
        assert "a person has denied it" in denied(result)
        assert not sent

    async def test_an_approval_is_for_the_calls_it_names(self) -> None:
        calls = [a_call("a", "send"), a_call("b", "send")]
        decision = ApprovalDecided(round=1, is_approved=True, calls=("a",), by="Ann")
        (first, second), sent = await self.answers(decision, calls)
        assert (first.data, sent) == ("done", ["a"])
        assert "its approval is for other calls" in denied(second)

    @pytest.mark.parametrize(
        ("decision", "session_id"),
        [
            (ApprovalDecided(round=2, is_approved=True, by="Ann"), "s1"),
            (ApprovalDecided(round=1, is_approved=True, by="Ann"), "s2"),
            (CancellationRequested(reason="no decision at all"), "s1"),
        ],
        ids=["of another round", "of another session", "another event"],
    )
    async def test_no_other_event_counts_as_an_approval(self, decision: EventData, session_id: str) -> None:
        (result,), sent = await self.answers(decision, session_id=session_id)
        denied(result)
        assert not sent

    async def test_the_approval_of_one_call_does_not_cover_another(self) -> None:
        send, sent = counted("send", error_propagation="partial-success")
        async with a_bus() as bus, a_dispatcher(send, bus=bus, approval=("send",)) as dispatcher:
            entry = await decided(bus, ApprovalDecided(round=1, is_approved=True, by="Ann"))
            calls = [a_call("a", "send", approval=entry), a_call("b", "send")]
            first, second = await dispatcher.run(a_request(*calls))
        assert (first.data, sent) == ("done", ["a"])
        assert "was not given" in denied(second)

    async def test_an_approval_widens_no_scopes(self) -> None:
        send, sent = counted("send", scopes="crm")
        async with a_bus() as bus, a_dispatcher(send, bus=bus, approval=("send",)) as dispatcher:
            entry = await decided(bus, ApprovalDecided(round=1, is_approved=True, by="Ann"))
            (result,) = await dispatcher.run(a_request(a_call(name="send", approval=entry)))
        assert "the scope 'crm'" in denied(result)
        assert not sent

    async def test_every_write_needs_approval_after_untrusted_content(self) -> None:
        send, sent = counted("send")
        look, looked = counted("look", "read")
        async with a_dispatcher(send, look, approval_after_untrusted=True) as dispatcher:
            await dispatcher.run(a_request(a_call("a", "send")))
            request = a_request(a_call("b", "send"), a_call("c", "look"), has_untrusted=True)
            first, _ = await dispatcher.run(request)
        assert "was not given" in denied(first)
        assert (sent, looked) == (["a"], ["c"])

    async def test_a_write_with_untrusted_results_of_its_own_batch_needs_approval(self) -> None:
        send, sent = counted("send", error_propagation="partial-success")
        web, _ = counted("web", "read", open_world=True)
        async with a_dispatcher(send, web, approval_after_untrusted=True) as dispatcher:
            _, taken, own = await dispatcher.run(
                a_request(
                    a_call("a", "web"),
                    a_call("b", "send", arguments={"text": "${calls[0]}"}),
                    a_call("c", "send", arguments={"text": "the model's own"}),
                )
            )
        assert "must see its arguments" in denied(taken)
        assert (own.data, sent) == ("done", ["c"])


async def test_a_refused_call_stops_the_others_only_with_a_fail_fast_contract() -> None:
    send, sent = counted("send", scopes="crm")
    other, others = counted("other")
    look, looked = counted("look", "read")
    async with a_dispatcher(send, other, look) as dispatcher:
        calls = [a_call("a", "send"), a_call("b", "other"), a_call("c", "look")]
        first, second, third = await dispatcher.run(a_request(*calls))
    denied(first)
    assert error_in(second).error_type == "cancelled"
    assert (third.data, sent, others, looked) == ("done", [], [], ["c"])


async def test_the_ledger_of_a_tool_that_may_not_run_stays_empty() -> None:
    ledger = Ledger()
    async with a_bus() as bus, a_dispatcher(ledger.tool("send", "write"), bus=bus, default_scopes=()) as one:
        await one.run(a_request(a_call(name="send")))
        assert not await bus.client.execute_command("KEYS", "*effect*")
    assert not ledger.effects
