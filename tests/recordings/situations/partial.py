"""The reported gaps: each error of a tool in an answer without a model, and the ends of earlier turns."""

from tests.recordings.scenario import Meanwhile, Scenario, calls, fails, says, use
from tool_dispatcher.authoring.failures import TOOL_ERRORS

_NO_MODEL = (fails(401, "authentication_error"),) * 2
_PAGE = use("open_page", name="claims of 2021")
_OPENS_BREAKER = 20
_TURN = {"conversation_id": "conversation_of_every_end"}


async def _cancel(one: Meanwhile) -> None:
    await one.until_asked(1)
    await one.antiphon.cancel(one.session_id, "enough")


_ENDS = {
    "complete": (
        (calls(_PAGE), says("It has 40 seats [F1]. Whether it sails is unknown.")),
        "natural_completion",
        None,
    ),
    "partial": ((calls(_PAGE), calls(_PAGE), says("It has 40 [F1].")), "max_rounds_reached", None),
    "failed": (_NO_MODEL, "model_unavailable", None),
    "cancelled": ((says("It is so.", wait_s=5),), "cancelled", _cancel),
    "asked_once_more": ((says("That is all I know."),), "natural_completion", None),
}
"""Turns of one conversation by name: their replies, their end, and concurrent actions."""

SCENARIOS = (
    Scenario(
        "errors_of_every_type_and_no_answer",
        "What fails, and how many seats has the ferry?",
        (
            calls(_PAGE, *(use("trouble", kind=kind) for kind in TOOL_ERRORS)),
            calls(*(use("trouble", kind="api_failure") for _ in range(_OPENS_BREAKER))),
            calls(use("trouble", kind="not_found"), use("find", query="x")),
            *_NO_MODEL,
        ),
        ends="model_unavailable",
        options={"max_tool_calls": 100},
        deployment="pages",
        apart="breaker of trouble",
    ),
    *(
        Scenario(
            f"a_turn_that_is_{name}",
            f"How many seats has the ferry ({name})?",
            replies,
            ends,  # type: ignore[arg-type]  # a table of words
            options={**_TURN, "max_rounds": 3},
            deployment="pages",
            meanwhile=meanwhile,
            after=f"a_turn_that_is_{list(_ENDS)[n - 1]}" if n else "",
        )
        for n, (name, (replies, ends, meanwhile)) in enumerate(_ENDS.items())
    ),
)
NAMES = frozenset(one.name for one in SCENARIOS)
"""Coverage does not distinguish the entries of a table."""
