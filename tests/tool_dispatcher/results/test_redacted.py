"""Secrets never reach results, errors, the journal, the ledger, the cache or the logs: all of Redis is searched."""

from typing import Annotated, Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.contract import BatchVariant
from pydantic import BaseModel, model_validator
from structlog.testing import capture_logs

from tests.tool_dispatcher.builders import (
    a_bus,
    a_call,
    a_request,
    a_tool,
    all_of_redis,
    error_in,
    results_of,
)
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.authoring.reconcile import TookEffect
from tool_dispatcher.authoring.secret import Secret
from tool_dispatcher.authoring.tool import Tool, ToolFailed, tool
from tool_dispatcher.results.redacted import redact_call_secrets, redacted

SECRET = "correct-horse-battery"
NAMED = Redactor([SECRET])
"""The redactor of a bus whose operator has named the secret."""


async def answered(*tools: Tool, bus: Bus | None = None, **call: Any) -> list[ToolResult]:
    """Return the results of a call of the first tool, and the whole of Redis and the log, to be searched."""
    if bus is None:
        async with a_bus(redactor=NAMED) as own:
            return await answered(*tools, bus=own, **call)
    calls = a_call(name=tools[0].name, **call), a_call("c2", refused="no")  # a single read is not journaled
    request = a_request(*calls, allowed=tuple(tool.name for tool in tools))
    with capture_logs() as logs:
        *results, _ = await results_of(list(tools), request, bus, result_bytes_max=1_000)
    kept = await all_of_redis(bus)
    assert SECRET not in repr(results)
    assert SECRET not in kept
    assert "[redacted]" in kept
    for line in logs:
        line.pop(
            "exc_info", None
        )  # an exception itself, which the log writes redacted: tests/shared/process/test_logs.py
    assert SECRET not in repr(logs)
    return results


def leaking(what: Any, effect: Any = "read", **options: Any) -> Tool:
    def leak(arguments: dict[str, Any], context: ToolContext) -> Any:
        if isinstance(what, Exception):
            raise what
        return what

    return a_tool("look", leak, effect, **{"retry": 1, **options})


class TestSecretsOfTheProcess:
    """Values that the operator has named, and of the environment."""

    @pytest.mark.parametrize("effect", ["read", "write"])
    @pytest.mark.parametrize(
        "what",
        [
            {"key": SECRET},
            {SECRET: 1},
            f"the key is {SECRET}.",
            ["x" * 100] * 30 + [SECRET],
            ToolFailed("not_found", f"not with {SECRET}", f"Use {SECRET}."),
            ValueError(SECRET),
        ],
        ids=["value", "key", "text", "in the part not shown", "error", "exception"],
    )
    async def test_a_result_of_a_tool_is_redacted(self, what: Any, effect: Any) -> None:
        await answered(leaking(what, effect))

    async def test_a_cached_read_is_redacted(self) -> None:
        await answered(leaking({"key": SECRET}, cache_ttl_s=60))

    async def test_a_result_of_an_alternative_is_redacted(self) -> None:
        broken = leaking(ToolFailed("api_failure", f"no {SECRET}"), alternatives="other")
        (result,) = await answered(broken, a_tool("other", lambda a, c: SECRET))
        assert result.data == "[redacted]"
        assert "no [redacted]" in result.substitute_because

    async def test_a_reconciled_outcome_is_redacted(self) -> None:
        lost = leaking(
            ConnectionResetError("gone"), "write", reconcile=lambda k, a: TookEffect({"a": SECRET})
        )
        (result,) = await answered(lost)
        assert result.data == {"a": "[redacted]"}

    async def test_a_message_of_a_validator_is_redacted(self) -> None:
        class Token(BaseModel):
            token: str

            @model_validator(mode="after")
            def check(self) -> "Token":
                raise ValueError(f"{self.token} is not {SECRET}")

        async def take(token: Token) -> None: ...

        taking = tool(effect="read", name="look", description="Looks.")(take)
        (result,) = await answered(taking, arguments={"token": "x"})
        assert "x is not [redacted]" in error_in(result).message

    async def test_an_exception_of_a_validator_is_redacted(self) -> None:
        class Token(BaseModel):
            @model_validator(mode="after")
            def check(self) -> "Token":
                raise KeyError(SECRET)

        async def take(token: Token) -> None: ...

        taking = tool(effect="read", name="look", description="Looks.")(take)
        (result,) = await answered(taking)
        assert "[redacted]" in error_in(result).message

    async def test_text_that_looks_like_a_credential_is_redacted(self) -> None:
        async with a_bus() as bus:
            token = "ghp_" + "a1b2c3d4e5" * 4
            (result,) = await results_of([leaking({"token": token})], a_request(a_call()), bus)
            assert result.data == {"token": "[redacted]"}
            assert token not in await all_of_redis(bus)

    async def test_a_placeholder_passes_no_secret_to_another_tool(self) -> None:
        given: list[Any] = []
        tools = [leaking({"key": SECRET}), a_tool("use", lambda a, c: given.append(a))]
        async with a_bus(redactor=NAMED) as bus:
            request = a_request(a_call("a"), a_call("b", "use", arguments={"key": "${calls[0].key}"}))
            await results_of(tools, request, bus)
        assert given == [{"key": "[redacted]"}]


class TestSecretsOfACall:
    """Arguments that the tool's author has marked as secret."""

    def login(self, outcome: Any, **options: Any) -> Tool:
        async def log_in(user: str, password: Annotated[str, Secret]) -> Any:
            returned = outcome(password)
            if isinstance(returned, Exception):
                raise returned
            return returned

        given: dict[str, Any] = {"effect": "write", "description": "Logs in.", **options}
        return tool(name="look", **given)(log_in)

    async def answer(self, *tools: Tool) -> ToolResult:
        async with a_bus() as bus:  # which knows nothing of it
            arguments = {"user": "Ann", "password": SECRET}
            (result,) = await answered(*tools, bus=bus, arguments=arguments)
        return result

    @pytest.mark.parametrize(
        "outcome",
        [
            lambda secret: {"logged_in_with": secret},
            lambda secret: f"Welcome. {secret} is a fine password.",
            lambda secret: ToolFailed("permission_denied", f"{secret} is wrong", f"Do not try {secret}."),
            lambda secret: ValueError(f"no such password: {secret}"),
        ],
        ids=["value", "text", "error", "exception"],
    )
    async def test_any_outcome_that_quotes_the_secret_is_redacted(self, outcome: Any) -> None:
        await self.answer(self.login(outcome))

    async def test_the_log_shows_the_failure_without_the_secret(self) -> None:
        failing = self.login(lambda secret: ValueError(f"no such password: {secret}"))
        request = a_request(a_call(arguments={"user": "Ann", "password": SECRET}))
        with capture_logs() as logs:
            await results_of([failing], request)
        (line,) = (line for line in logs if line["event"] == "tool_call")
        assert "ValueError: no such password: [redacted]" in line["exception"]
        assert "Traceback" in line["exception"]
        assert "exc_info" not in line

    async def test_an_exception_of_a_validator_is_redacted(self) -> None:
        class Login(BaseModel):
            user: str
            password: Annotated[str, Secret]

            @model_validator(mode="after")
            def check(self) -> "Login":
                raise KeyError(self.password)

        async def take(login: Login) -> None: ...

        result = await self.answer(tool(effect="read", name="look", description="Looks.")(take))
        assert error_in(result).message == "KeyError: '[redacted]'"

    async def test_a_secret_passed_to_another_tool_is_redacted_there_too(self) -> None:
        @tool(effect="read")
        async def other(user: str, password: Annotated[str, Secret]) -> str:
            """Logs in elsewhere."""
            return f"{user} with {password}"

        broken = self.login(
            lambda secret: ToolFailed("api_failure", secret), effect="read", alternatives="other"
        )
        result = await self.answer(broken, other)
        assert result.data == "Ann with [redacted]"

    async def test_a_reconciled_outcome_is_redacted(self) -> None:
        lost = self.login(
            lambda secret: ConnectionResetError(secret),
            reconcile=lambda key, arguments: TookEffect(arguments["password"]),
        )
        assert (await self.answer(lost)).data == "[redacted]"

    async def test_an_exception_of_a_reconciliation_is_redacted(self) -> None:
        def broken(key: str, arguments: dict[str, Any]) -> Any:
            raise LookupError(f"nobody with {arguments['password']}")

        lost = self.login(lambda secret: ConnectionResetError("gone"), reconcile=broken)
        request = a_request(a_call(arguments={"user": "Ann", "password": SECRET}))
        with capture_logs() as logs:
            (result,) = await results_of([lost], request)
        assert error_in(result).error_type == "outcome_unknown"
        (line,) = (line for line in logs if line["event"] == "reconcile_failed")
        assert line["error"] == "nobody with [redacted]"

    async def test_the_results_of_calls_collapsed_into_one_are_redacted(self) -> None:
        batch = BatchVariant(tool="many", argument="logins")
        single = self.login(lambda secret: secret, batch=batch)

        @tool(effect="write")
        async def many(logins: list[dict[str, str]]) -> list[str]:
            """Logs in, without a mark of its own."""
            return [f"{login['user']} with {login['password']}" for login in logins]

        async with a_bus() as bus:
            arguments = {"user": "Ann", "password": SECRET}
            calls = [a_call(f"c{n}", arguments=arguments) for n in range(5)]
            request = a_request(*calls, allowed=("look", "many"))
            results = await results_of([single, many], request, bus)
            assert SECRET not in await all_of_redis(bus)
        assert [result.data for result in results] == ["Ann with [redacted]"] * 5

    async def test_the_tool_itself_receives_the_secret(self) -> None:
        given: list[str] = []
        result = await self.answer_of_any(self.login(given.append))
        assert (result.status, given) == ("ok", [SECRET])

    async def answer_of_any(self, one: Tool) -> ToolResult:
        request = a_request(a_call(arguments={"user": "Ann", "password": SECRET}))
        (result,) = await results_of([one], request)
        return result


def test_data_without_a_secret_is_not_copied() -> None:
    data, error = {"a": ["b"]}, tool_error("not_found", "No such thing.")
    assert redacted(data, NAMED) is data
    assert redacted(error, NAMED) is error
    assert redact_call_secrets((), SECRET) == SECRET
    assert redact_call_secrets([SECRET], SECRET) == "[redacted]"


def test_every_text_of_an_error_is_redacted() -> None:
    error = tool_error(
        "validation_error", SECRET, SECRET, example_valid_call={"key": [SECRET]}, fields={SECRET: SECRET}
    )
    clean = redacted(error, NAMED)
    assert SECRET not in clean.model_dump_json()
    assert clean.error_type == "validation_error"


def test_a_marked_argument_may_be_as_short_as_a_pin() -> None:
    assert redact_call_secrets(("4711",), {"said": "wrong PIN 4711"}) == {"said": "wrong PIN [redacted]"}
    assert redact_call_secrets(("47",), {"said": "47 of 100"}) == {"said": "47 of 100"}
