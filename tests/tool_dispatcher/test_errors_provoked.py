"""Every error, provoked for real and read as a model reads it: what happened, and what to do next."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import pytest
from antiphon_shared.tools.calls import ErrorType, ToolError

from tests.tool_dispatcher.builders import (
    a_call,
    a_request,
    a_tool,
    results_of,
)
from tests.tool_dispatcher.provoking import (
    answer,
    by_a_crash,
    by_a_forged_grant,
    by_a_rate,
    by_another_call_with_its_key,
    by_failing_often,
    by_full_slots,
    fetching,
    forecast,
    hang,
    last,
    of_forecast,
    of_service,
    raising,
    writes,
)
from tool_dispatcher.authoring.tool import ToolFailed


@dataclass(frozen=True)
class Provoked:
    """An error, how it is brought about, and the words that must be in it."""

    error_type: ErrorType
    by: Callable[[Path], Awaitable[ToolError]]
    message: tuple[str, ...]
    action: tuple[str, ...]
    more: dict[str, Any] = field(default_factory=dict)


EXAMPLE = {"city": "Oslo", "days": 2}

ERRORS: dict[str, Provoked] = {
    "arguments of a wrong type": Provoked(
        "validation_error",
        lambda _: of_forecast(city="Oslo", days="2"),
        ("The arguments of forecast are not valid", "days: ", "valid integer", '"2"'),
        (
            "Call forecast again with corrected arguments",
            "city (required), days",
            '42 is a number, "42" is text',
        ),
        {"example_valid_call": EXAMPLE, "fields": {"days"}},
    ),
    "a field that there is not, and one that is missing": Provoked(
        "validation_error",
        lambda _: of_forecast(citi="Oslo", days=99),
        ("city: required, but missing", "citi: no such field; did you mean 'city'?", "days: "),
        ("Call forecast again",),
        {"example_valid_call": EXAMPLE, "fields": {"city", "citi", "days"}},
    ),
    "arguments that are no object": Provoked(
        "validation_error",
        lambda _: last([forecast], a_call(name="forecast", problem="they were cut off")),
        ("The arguments of forecast could not be used: they were cut off",),
        ("Call forecast again with a complete JSON object",),
        {"example_valid_call": EXAMPLE},
    ),
    "a placeholder for nothing": Provoked(
        "validation_error",
        lambda _: of_forecast(city="${calls[7].city}"),
        ("forecast was not run", "city: ${calls[7].city} names a call that does not exist", "calls[0]"),
        ("with the value itself",),
        {"example_valid_call": EXAMPLE, "fields": {"city"}},
    ),
    "arguments that the tool itself refuses": Provoked(
        "validation_error",
        lambda _: of_forecast(city="oslo"),
        ("A city begins with a capital letter.",),
        ("Correct the arguments and call the tool again",),
        {"example_valid_call": EXAMPLE},
    ),
    "arguments that a service refuses": Provoked(
        "validation_error", lambda _: of_service(422), ("422",), ("Correct the arguments",)
    ),
    "a key that names another call": Provoked(
        "validation_error",
        lambda _: by_another_call_with_its_key(),
        ("book was not run", "was used before for another call"),
        ("make it again as a new call",),
    ),
    "nothing found, says the tool": Provoked(
        "not_found",
        lambda _: of_forecast(city="Atlantis"),
        ("There is no city 'Atlantis'.",),
        ("Ask for a city that is on the map.",),
    ),
    "nothing found, says a service": Provoked(
        "not_found", lambda _: of_service(404), ("404",), ("Look the name or id up with another tool",)
    ),
    "a scope that is missing": Provoked(
        "permission_denied",
        lambda _: last([a_tool("mail", answer, "write")], a_call(name="mail"), default_scopes=("read",)),
        ("mail was not run: it needs the scope 'write', which this session does not have",),
        ("Do not call it again", "only a person can change this", "say in the answer"),
    ),
    "another round": Provoked(
        "permission_denied",
        lambda _: last([a_tool("look", answer, rounds=[2, 3])], a_call()),
        ("look was not run: it runs only in round 2 or 3, and this is round 1.",),
        ("Call it in round 2 or 3",),
    ),
    "a tool that is not offered": Provoked(
        "permission_denied",
        lambda _: last([forecast], a_call(name="forecast"), allowed=("look",)),
        ("forecast is not offered here",),
        ("Use one of the tools that are offered",),
    ),
    "nobody has approved": Provoked(
        "permission_denied",
        lambda _: last([forecast], a_call(name="forecast"), approval=("forecast",)),
        ("forecast was not run: it needs a person's approval, which was not given",),
        ("Go on without it", "say in the answer"),
    ),
    "a forged grant": Provoked(
        "permission_denied",
        by_a_forged_grant,
        ("forecast was not run. The session's grant was not signed by a key that is trusted here.",),
        ("only a person can change this",),
    ),
    "no permission, says a service": Provoked(
        "permission_denied", lambda _: of_service(403), ("403",), ("Do not call this tool again",)
    ),
    "too often, says the tool": Provoked(
        "rate_limit",
        lambda _: last([raising(ToolFailed("rate_limit", "Slow down.", retry_after_s=90))], a_call()),
        ("Slow down.",),
        ("Wait before calling this tool again",),
        {"retry_after_s": (90, 90)},
    ),
    "too often, says a service": Provoked(
        "rate_limit",
        lambda _: of_service(429, headers={"Retry-After": "120"}),
        ("429",),
        ("Wait before calling this tool again",),
        {"retry_after_s": (120, 120)},
    ),
    "too often, says the contract": Provoked(
        "rate_limit",
        lambda _: by_a_rate(),
        ("look has reached its rate limit", "It was not run."),
        ("Call look again after that, with fewer calls",),
        {"retry_after_s": (900, 1_000)},
    ),
    "too many at once": Provoked(
        "rate_limit",
        lambda _: by_full_slots(),
        ("look runs at most 1 at once, and no slot became free within", "The call was not run."),
        ("Call look later and with fewer calls at once",),
    ),
    "a service that is out of order": Provoked(
        "api_failure",
        lambda _: of_service(503),
        ("503", "(Tried 3 times)"),
        ("It has been tried again already: go on without it and say so.",),
    ),
    "a tool that takes too long": Provoked(
        "timeout",
        lambda _: last([a_tool("look", hang, timeout_s=0.05, retry=1)], a_call()),
        ("look did not finish within 0.05 s.",),
        ("Ask for less, or go on without it",),
    ),
    "a session whose time is over": Provoked(
        "timeout",
        lambda _: last([forecast], a_call(name="forecast", arguments={"city": "Oslo"}), seconds=-1),
        ("The session's time was over before the call began; it was not run.",),
        ("Answer from what has been found",),
    ),
    "a name that no tool has": Provoked(
        "unknown_tool",
        lambda _: last([forecast], a_call(name="forcast"), allowed=("forecast",)),
        ("There is no tool 'forcast'.",),
        ("Use one of: forecast.",),
    ),
    "a write that takes too long": Provoked(
        "outcome_unknown",
        lambda _: last([a_tool("book", hang, "write", timeout_s=0.05)], a_call(name="book")),
        ("book did not finish within 0.05 s.",),
        ("It may have taken effect: do not repeat it. Check with a reading tool",),
    ),
    "a write whose service failed in the middle": Provoked(
        "outcome_unknown",
        lambda _: of_service(502, "write"),
        ("502",),
        ("It may have taken effect: do not repeat it.",),
    ),
    "a write cut off by a crash": Provoked(
        "outcome_unknown",
        lambda _: by_a_crash(),
        ("The dispatcher stopped while book was running. It may or may not have taken effect.",),
        ("do not repeat it. Check with a reading tool", "tell the user that it is not known"),
    ),
    "a tool that needs another": Provoked(
        "dependency_failed",
        lambda _: last(fetching(), a_call(name="fetch")),
        ("fetch was not run: it needs search, which has not succeeded in this session.",),
        ("Call search first, then fetch with the `id` it returns.",),
    ),
    "a tool that needs what another did not give": Provoked(
        "dependency_failed",
        lambda _: last(fetching(), a_call("a", "search"), a_call("b", "fetch")),
        ("fetch was not run: it needs the `id` search returns", "an object with 'documents', without `id`"),
        ("First correct the call of search",),
    ),
    "a placeholder for what failed": Provoked(
        "dependency_failed",
        lambda _: last(
            [forecast, a_tool("look", answer)],
            a_call("a", "forecast", arguments={"city": "Atlantis"}),
            a_call("b", arguments={"text": "${calls[0]}"}),
        ),
        ("look was not run", "calls[0] (forecast)", "failed (not_found: There is no city 'Atlantis')"),
        ("First correct calls[0]: Ask for a city that is on the map. Then call look again.",),
    ),
    "another write failed": Provoked(
        "cancelled",
        lambda _: last(writes(), a_call("a", "book"), a_call("b", "mail")),
        ("mail was not run and has had no effect: calls[0] (book) failed (not_found: No such flight)",),
        ("First correct calls[0]", "Then repeat this call unchanged"),
    ),
    "the coordinator has said no": Provoked(
        "cancelled",
        lambda _: last([forecast], a_call(name="forecast", refused="The limit of 20 tool calls is reached.")),
        ("The call was not run: The limit of 20 tool calls is reached.",),
        ("Do what is said there; if that is nothing, go on without the call",),
    ),
    "a tool that keeps failing": Provoked(
        "circuit_open",
        lambda _: by_failing_often(),
        ("look is not called at the moment: 10 of its last 10 calls failed. This call was not run.",),
        ("Use another tool, or go on without look and say so. It is tried again in about 15 s.",),
        {"retry_after_s": (10, 15)},
    ),
    "a fault of the tool's": Provoked(
        "internal_error",
        lambda _: last([raising(KeyError("days"))], a_call()),
        ("KeyError: 'days'",),
        ("Go on without this tool and say so.",),
    ),
    "a fault of a write's": Provoked(
        "outcome_unknown",
        lambda _: last([raising(KeyError("days"), "book", "write")], a_call(name="book")),
        ("KeyError: 'days'",),
        ("It may have taken effect: do not repeat it. Check with a reading tool",),
    ),
    "a result that is no JSON": Provoked(
        "internal_error",
        lambda _: last([a_tool("book", lambda a, c: object(), "write")], a_call(name="book")),
        ("The tool ran, but the result holds object, which is not JSON",),
        ("The call was made and took effect; do not repeat it.",),
    ),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_every_provoked_error_states_what_happened_and_what_to_do(name: str, tmp_path: Path) -> None:
    wanted = ERRORS[name]
    error = await wanted.by(tmp_path)
    assert error.error_type == wanted.error_type
    for words in wanted.message:
        assert words in error.message
    for words in wanted.action:
        assert words in error.suggested_action
    assert "Traceback" not in error.model_dump_json()
    least_s, most_s = wanted.more.get("retry_after_s", (None, None))
    assert error.retry_after_s is None if least_s is None else least_s <= (error.retry_after_s or 0) <= most_s
    assert set(error.fields) == wanted.more.get("fields", set())
    if "example_valid_call" in wanted.more:
        assert error.example_valid_call == wanted.more["example_valid_call"]


def test_every_kind_of_error_is_provoked() -> None:
    """`repeated_write` takes two rounds: test_repeated_writes.py."""
    assert {wanted.error_type for wanted in ERRORS.values()} == set(get_args(ErrorType)) - {"repeated_write"}


@pytest.mark.parametrize("wanted", [name for name in ERRORS if ERRORS[name].error_type == "validation_error"])
async def test_the_example_that_is_shown_is_accepted(wanted: str, tmp_path: Path) -> None:
    error = await ERRORS[wanted].by(tmp_path)
    if error.example_valid_call == EXAMPLE:
        assert (await results_of([forecast], a_request(a_call(name="forecast", arguments=EXAMPLE))))[
            0
        ].status == "ok"
