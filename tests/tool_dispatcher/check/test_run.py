"""A tool gets every case, and the result of each is reported."""

import asyncio
import time
from collections import Counter
from threading import Event
from typing import Annotated, Any

import pytest
import structlog
from antiphon_shared.tools.calls import ToolError
from pydantic import BaseModel, BeforeValidator, Field, field_validator

from antiphon import Secret, Tool, ToolContext, ToolFailed, tool
from tests.tool_dispatcher.builders import until
from tool_dispatcher.check.memory import bounded_memory
from tool_dispatcher.check.run import Options, ToolReport, check_tool

OPTIONS = Options(examples_max=10)
Words = Annotated[str, Field(min_length=1, max_length=200)]


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with structlog.testing.capture_logs():
        yield


async def whats(one: Tool, options: Options = OPTIONS) -> set[str]:
    """Return the tool's problems, each once."""
    report = await check_tool(one, options)
    return {fault.what for case in report.failed for fault in case.faults}


async def test_a_tool_without_faults_is_clean() -> None:
    @tool(effect="read")
    def look(words: Words, limit: Annotated[int, Field(ge=1, le=9)] = 3) -> list[str]:
        """Looks."""
        if "a" in words:
            raise ToolFailed("not_found", f"There is nothing on {words!r}.", "Try other words.")
        return [words] * limit

    report = await check_tool(look, OPTIONS)
    assert report.failed == ()
    assert report.notes == ()
    assert report.count("refused") > 50
    assert report.count("ran") > 50
    assert report.count("refused") + report.count("ran") == len(report.checked)


async def test_every_case_records_what_the_model_sees() -> None:
    @tool(effect="read")
    def look(words: Words) -> str:
        """Looks."""
        return f"about {words}"

    report = await check_tool(look, OPTIONS)
    refused = the_case(report, "words: a number")
    assert isinstance(refused.model_view, ToolError)
    assert refused.model_view.error_type == "validation_error"
    assert refused.model_view.example_valid_call == {"words": "text"}
    assert the_case(report, "the tool's own example").model_view == '"about text"'
    assert all(case.model_view for case in report.checked)


async def test_reads_are_run_and_writes_are_only_validated() -> None:
    calls: Counter[str] = Counter()

    @tool(effect="write")
    async def enter(words: Words, context: ToolContext) -> str:
        """Enters."""
        calls[context.idempotency_key] += 1
        return "entered"

    report = await check_tool(enter, OPTIONS)
    assert not calls
    assert report.count("accepted") > 20
    ran = await check_tool(enter, Options(runs_writes=True, examples_max=10))
    assert ran.count("accepted") == 0
    assert len(calls) == ran.count("ran") > 20
    assert set(calls.values()) == {1}


async def test_two_checks_write_under_different_keys() -> None:
    keys: list[str] = []

    @tool(effect="write")
    def enter(words: Words, context: ToolContext) -> str:
        """Enters."""
        keys.append(context.idempotency_key)
        return "entered"

    options = Options(runs_writes=True, examples_max=0)
    await check_tool(enter, options)
    await check_tool(enter, options)
    assert len(set(keys)) == len(keys)


async def test_an_exception_is_a_fault() -> None:
    @tool(effect="read")
    def divide(by: int) -> int:
        """Divides."""
        return 100 // by

    assert await whats(divide) == {"the model receives internal_error"}
    report = await check_tool(divide, OPTIONS)
    assert the_case(report, "by: zero").faults[0].detail.startswith("ZeroDivisionError")


async def test_a_tool_that_exits_does_not_end_the_check() -> None:
    @tool(effect="read")
    def leave(words: Words) -> str:
        """Leaves."""
        raise SystemExit(3)

    assert await whats(leave) == {"the model receives internal_error"}


async def test_a_validator_that_converts_invalid_input_is_reported_and_not_run() -> None:
    seen: list[Any] = []

    @tool(effect="read", example={"number": 1})
    def count(number: Annotated[int, BeforeValidator(lambda value: int(str(value) == "42"))]) -> int:
        """Counts."""
        seen.append(number)
        return number

    report = await check_tool(count, OPTIONS)
    assert "accepted, though the schema forbids it" in await whats(count)
    assert the_case(report, "number: a number as text").happened == "accepted"
    assert the_case(report, "number: a number").happened == "ran"


async def test_a_validator_that_fails_by_itself_is_a_fault() -> None:
    class Share(BaseModel):
        __example__ = {"part": 1}
        part: int

        @field_validator("part")
        @classmethod
        def _whole(cls, part: int) -> int:
            return 100 // part

    @tool(effect="read")
    def share(share: Share) -> str:
        """Shares."""
        return "ok"

    assert await whats(share) == {"the validation itself failed: the model receives internal_error"}


async def test_a_tool_without_a_derivable_example_is_asked_to_give_one() -> None:
    @tool(effect="read")
    def look(code: Annotated[str, Field(pattern=r"^[A-Z]{2}-[0-9]{4}$")]) -> str:
        """Looks."""
        return code

    assert await whats(look) == {
        "the refusal has no example of a valid call, because none could be generated from the schema"
    }
    (note,) = (await check_tool(look, OPTIONS)).notes
    assert "example=" in note


async def test_text_that_is_evaluated_is_found() -> None:
    @tool(effect="read")
    def render(template: Words) -> str:
        """Renders."""
        return template.replace("{{1337*7919}}", str(1337 * 7919))

    assert await whats(render) == {"it executed an argument as code: 1337*7919 was computed"}


async def test_a_file_that_is_read_is_found() -> None:
    @tool(effect="read")
    def read(name: Words) -> str:
        """Reads."""
        return "root:x:0:0:root" if name.endswith("etc/passwd") else "nothing"

    assert await whats(read) == {"it read the file that an argument names: /etc/passwd"}


async def test_a_secret_that_comes_back_is_found_and_not_reported() -> None:
    @tool(effect="read")
    def log_in(password: Annotated[str, Secret]) -> str:
        """Logs in."""
        raise ToolFailed("permission_denied", f"{password!r:.300} is wrong.", "Ask for another.")

    report = await check_tool(log_in, OPTIONS)
    assert "it shows a secret" in {fault.what for case in report.failed for fault in case.faults}
    case = the_case(report, "password: SQL, a union")
    assert case.arguments == '{"password": "[redacted]"}'
    assert "[redacted]" in case.model_view.message


async def test_a_tool_that_hangs_three_times_is_not_called_again() -> None:
    never = Event()
    begun: list[str] = []

    @tool(effect="read", timeout_s=0.2)
    def hang(words: Words) -> None:
        """Hangs."""
        begun.append(words)
        never.wait(60)

    report = await check_tool(hang, OPTIONS)
    await until(lambda: len(begun) == 3)  # in threads that are not awaited
    never.set()
    assert len(begun) == report.count("ran") == 3
    assert [one.faults[-1].what for one in report.failed] == ["no call of the tool ended in time"] * 3
    assert "did not end in time" in report.notes[0]
    assert report.count("accepted") > 20


async def test_a_tool_that_exhausts_the_memory_fails_without_ending_the_check() -> None:
    @tool(effect="read")
    def grow(words: Words) -> int:
        """Grows."""
        return len(bytearray(2**31))  # takes address space alone: its pages are never touched

    with bounded_memory(2**30):
        report = await check_tool(grow, Options(examples_max=1))
    assert {fault.what for one in report.failed for fault in one.faults} == {
        "the model receives internal_error"
    }
    assert any("MemoryError" in fault.detail for one in report.failed for fault in one.faults)


async def test_a_slow_tool_is_run_for_a_bounded_time() -> None:
    begun: list[str] = []

    @tool(effect="read")
    def look(words: Words) -> str:
        """Looks."""
        begun.append(words)
        return "ok"

    report = await check_tool(look, Options(examples_max=10, run_s_max=1e-9))
    assert len(begun) == report.count("ran") == 1
    assert "Not all cases were run, because its calls took" in report.notes[0]


async def test_a_slow_async_tool_is_given_up_too() -> None:
    @tool(effect="read", timeout_s=0.02)
    async def hang(words: Words) -> None:
        """Hangs."""
        await asyncio.sleep(60)

    report = await check_tool(hang, OPTIONS)
    assert report.count("ran") == 3


async def test_immediate_failures_are_no_timeouts() -> None:
    @tool(effect="read")
    def look(words: Words) -> str:
        """Looks."""
        raise ToolFailed("timeout", "The service did not answer.", "Try later.")

    report = await check_tool(look, OPTIONS)
    assert report.notes == ()
    assert report.count("ran") > 20


async def test_a_schema_alone_is_enough() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "required": ["n"]}
    look = Tool("look", "Looks.", schema, lambda arguments, context: arguments["n"], effect="read")
    report = await check_tool(look, OPTIONS)
    assert report.failed == ()
    assert the_case(report, "n: minus one").happened == "refused"


async def test_a_tool_without_parameters_is_checked_too() -> None:
    @tool(effect="read")
    def today() -> str:
        """Says the day."""
        return time.strftime("%d")

    report = await check_tool(today, OPTIONS)
    assert report.failed == ()
    assert report.count("refused") > 3


async def test_a_tool_that_refuses_every_case_is_noted() -> None:
    class Never(BaseModel):
        __example__ = None
        word: str

        @field_validator("word")
        @classmethod
        def _refuse(cls, word: str) -> str:
            raise ValueError("never right")

    @tool(effect="read")
    def look(never: Never) -> str:
        """Looks."""
        return ""

    notes = " ".join((await check_tool(look, OPTIONS)).notes)
    assert "The tool accepted no case" in notes


async def test_the_same_seed_gives_the_same_report() -> None:
    @tool(effect="read")
    def look(words: Words, limit: int = 3) -> str:
        """Looks."""
        return "ok"

    assert await check_tool(look, OPTIONS) == await check_tool(look, OPTIONS)
    other = await check_tool(look, Options(examples_max=10, seed=1))
    assert other != await check_tool(look, OPTIONS)


def the_case(report: ToolReport, label: str) -> Any:
    (case,) = [case for case in report.checked if case.label == label]
    return case
