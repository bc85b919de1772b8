"""The tools that every dispatcher has: to find more tools, and to read the rest of a result."""

from typing import Any

import pytest
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.relevance import FIND_TOOLS, READ_RESULT

from tests.tool_dispatcher.builders import (
    Dispatcher,
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    error_in,
)
from tool_dispatcher.authoring.tool import Tool

NAMES = ("send_mail", "list_mails", "rain_forecast")


def some_tools() -> list[Tool]:
    effects: list[Any] = ["write", "read", "read"]
    return [a_tool(name, lambda a, c: None, effect) for name, effect in zip(NAMES, effects, strict=True)]


async def find(dispatcher: Dispatcher, need: str, *, allowed: tuple[str, ...] = NAMES, **more: Any) -> Any:
    call = a_call(need, FIND_TOOLS, arguments={"need": need})
    (result,) = await dispatcher.run(a_request(call, allowed=(*allowed, FIND_TOOLS), **more))
    assert result.status == "ok"
    return result.data


def names(found: Any) -> set[str]:
    return {one["name"] for one in found["tools"]}


class TestFindTools:
    async def test_tools_are_found_by_their_purpose(self) -> None:
        async with a_dispatcher(*some_tools()) as dispatcher:
            found = await find(dispatcher, "an e-mail to send")
            best = found["tools"][0]
            assert (best["name"], best["description"].splitlines()[0]) == ("send_mail", "Does send_mail.")
            assert "can be called from the next round on" in found["note"]
            nothing = await find(dispatcher, "chess")
            assert nothing == {"tools": [], "note": "None fits; use other words."}

    async def test_a_tool_that_the_session_may_not_use_is_not_found(self) -> None:
        async with a_dispatcher(*some_tools()) as dispatcher:
            assert names(await find(dispatcher, "mail", allowed=("list_mails",))) == {"list_mails"}
        async with a_dispatcher(*some_tools(), default_scopes=("read",)) as dispatcher:
            assert names(await find(dispatcher, "mail")) == {"list_mails"}

    async def test_a_tool_that_needs_approval_is_found(self) -> None:
        """They are asked about its call; a model that cannot find it could never make one."""
        async with a_dispatcher(*some_tools(), approval=("send_mail",)) as dispatcher:
            assert names(await find(dispatcher, "mail")) == {"send_mail", "list_mails"}
        async with a_dispatcher(*some_tools(), approval_after_untrusted=True) as dispatcher:
            found = await find(dispatcher, "mail", has_untrusted=True)
            assert names(found) == {"send_mail", "list_mails"}

    async def test_a_tool_callable_in_the_next_round_is_found(self) -> None:
        first = a_tool("mail_first", lambda a, c: None, rounds=1)
        second = a_tool("mail_second", lambda a, c: None, rounds=2)
        async with a_dispatcher(first, second) as dispatcher:
            allowed = ("mail_first", "mail_second")
            assert names(await find(dispatcher, "mail", allowed=allowed)) == {"mail_second"}

    async def test_find_tools_does_not_find_itself(self) -> None:
        async with a_dispatcher(*some_tools()) as dispatcher:
            assert names(await find(dispatcher, "find tools, read a result")) == set()

    async def test_reads_need_no_approval(self) -> None:
        async with a_dispatcher(*some_tools(), approval=("*",)) as dispatcher:
            assert names(await find(dispatcher, "rain")) == {"rain_forecast"}

    async def test_a_call_without_a_need_is_refused_with_an_example(self) -> None:
        async with a_dispatcher(*some_tools()) as dispatcher:
            calls = [a_call("a", FIND_TOOLS), a_call("b", FIND_TOOLS, arguments={"need": ""})]
            for result in await dispatcher.run(a_request(*calls)):
                error = error_in(result)
                assert error.error_type == "validation_error"
                assert error.example_valid_call == {"need": "send an e-mail to a customer"}


class TestReadResult:
    TEXT = "".join(f"{n:05d} " for n in range(5_000))

    def tool(self) -> Tool:
        return a_tool("look", lambda a, c: self.TEXT, result_bytes_max=1_000)

    async def read(self, dispatcher: Dispatcher, session_id: str = "s1", **arguments: Any) -> ToolResult:
        call = a_call("r", READ_RESULT, arguments=arguments)
        (result,) = await dispatcher.run(a_request(call, round=2), session_id=session_id)
        return result

    async def test_all_of_a_result_can_be_read_part_by_part(self) -> None:
        async with a_bus() as bus, a_dispatcher(self.tool(), bus=bus) as dispatcher:
            (shown,) = await dispatcher.run(a_request(a_call()))
            text, part = "", {"end": 0, "total_characters": -1}
            for round in range(2, 90):
                arguments = {"handle": shown.handle, "start": part["end"], "length": 2_500}
                call = a_call("r", READ_RESULT, arguments=arguments)
                (read,) = await dispatcher.run(a_request(call, round=round))
                part = read.data
                text += read.data["text"]
                if part["end"] == part["total_characters"]:
                    break
        assert text == self.TEXT

    async def test_a_part_is_not_larger_than_a_result_may_be(self) -> None:
        async with a_dispatcher(self.tool(), result_bytes_max=2_000) as dispatcher:
            (shown,) = await dispatcher.run(a_request(a_call()))
            read = await self.read(dispatcher, handle=shown.handle, length=40_000)
        assert len(read.model_dump_json()) < 2_300
        assert read.handle == "", "it is not a result with a further handle"
        assert read.data["end"] == len(read.data["text"]) > 1_500

    async def test_another_session_cannot_read_the_result(self) -> None:
        async with a_bus() as bus, a_dispatcher(self.tool(), bus=bus) as dispatcher:
            (shown,) = await dispatcher.run(a_request(a_call()))
            error = error_in(await self.read(dispatcher, session_id="s2", handle=shown.handle))
            assert (await self.read(dispatcher, handle=shown.handle)).status == "ok"
        assert error.error_type == "not_found"
        assert error.message == "No result is stored under the handle 'r1c0'."
        assert "make that call again and ask for less" in error.suggested_action

    async def test_an_invalid_handle_is_refused(self) -> None:
        async with a_dispatcher(self.tool()) as dispatcher:
            for handle in ("journal:1", "../s2:result:r1c0", ""):
                error = error_in(await self.read(dispatcher, handle=handle))
                assert error.error_type == "validation_error"
                assert error.example_valid_call == {"handle": "r1c0"}
            for handle in ("r99999c1", "r1c0\n"):
                error = error_in(await self.read(dispatcher, handle=handle))
                assert error.error_type == "not_found"

    async def test_read_result_needs_the_scope_read(self) -> None:
        async with a_bus() as bus, a_dispatcher(self.tool(), bus=bus) as dispatcher:
            (shown,) = await dispatcher.run(a_request(a_call()))
            async with a_dispatcher(self.tool(), bus=bus, default_scopes=("write",)) as other:
                error = error_in(await self.read(other, handle=shown.handle))
        assert error.error_type == "permission_denied"

    async def test_reading_past_the_end_gives_an_empty_text(self) -> None:
        async with a_bus() as bus, a_dispatcher(self.tool(), bus=bus) as dispatcher:
            (shown,) = await dispatcher.run(a_request(a_call()))
            read = await self.read(dispatcher, handle=shown.handle, start=10**6)
        assert (read.data["text"], read.data["end"]) == ("", len(self.TEXT))


async def test_a_tool_of_the_operators_may_not_take_their_names() -> None:
    async with a_bus() as bus:
        with pytest.raises(ConfigurationError, match=FIND_TOOLS):
            Dispatcher([a_tool(FIND_TOOLS, lambda a, c: None)], bus)
