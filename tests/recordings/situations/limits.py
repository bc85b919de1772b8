"""Limits met exactly, one below and one above; options, scopes and grants that do not fit."""

from typing import Any

from tests.recordings.scenario import Scenario, calls, fails, says, use

_LOOK = use("look_up", what="mast")
_FIND = tuple(use("look_up", what=what) for what in ("mast", "chapel", "lighthouse"))
_FAILING = use("look_up", what="a unicorn")
_ANSWER = says("It is high [F1].")


def _session(name: str, replies: tuple[Any, ...], ends: str = "natural_completion", **how: Any) -> Scenario:
    deployment, options = how.pop("deployment", "usual"), how.pop("options", how)
    given = {key: options.pop(key) for key in ("grant", "scopes", "claims") if key in options}
    return Scenario(
        name, f"What is bounded ({name})?", replies, ends, options, deployment=deployment, **given
    )  # type: ignore[arg-type]


_CALLS = tuple(
    _session(
        f"calls_{made}_of_{most}",
        (calls(*_FIND[:made]), _ANSWER),
        "natural_completion" if made < most else "max_tool_calls_reached",
        max_tool_calls=most,
    )
    for most, made in ((2, 1), (2, 2), (2, 3), (1, 3))
)
_ROUNDS = tuple(
    _session(
        f"rounds_{made}_of_{most}",
        (*(calls(use("look_up", what=_FIND[n].input["what"])) for n in range(made - 1)), _ANSWER),
        "natural_completion" if made < most else "max_rounds_reached",
        max_rounds=most,
    )
    for most, made in ((3, 2), (3, 3), (2, 1))
)
_TOOL_ROUNDS = tuple(
    _session(
        f"rounds_of_tools_{made}_of_{most}",
        (*(calls(_FIND[n]) for n in range(made)), _ANSWER),
        max_tool_rounds=most,
    )
    for most, made in ((0, 0), (1, 0), (1, 1), (2, 1), (2, 2))
)
_SPENT = 1_000
"""Tokens of the first round, few of them counted in, so that an estimate counts half."""
_TOKENS = tuple(
    _session(
        f"tokens_{name}",
        (calls(_LOOK, usage={"input_tokens": 1, "output_tokens": _SPENT - 1}), _ANSWER),
        ends,
        max_tokens=most,
    )
    for name, most, ends in (
        ("none_left_at_once", 100, "token_budget_exhausted"),
        ("just_enough_for_a_round", 3_000 + 240, "any"),
        ("one_less_than_a_round_takes", 3_000 + 200, "any"),
        ("all_spent_by_a_reply", _SPENT, "token_budget_exhausted"),
        ("all_but_one_spent_by_a_reply", _SPENT + 1, "any"),
        ("ample", 20_000, "natural_completion"),
    )
)
_BARREN = tuple(
    _session(
        f"rounds_of_failures_{name}",
        replies,
        ends,
        max_rounds=8,
    )
    for name, replies, ends in (
        ("one", (calls(_FAILING), _ANSWER), "natural_completion"),
        ("one_and_one", (calls(_FAILING), calls(_LOOK), calls(_FAILING), _ANSWER), "natural_completion"),
        ("two", (calls(_FAILING), calls(_FAILING), _ANSWER), "all_tools_failed"),
        (
            "of_many_calls",
            (calls(*(use(f"no_tool_{n}") for n in range(9)), _FAILING), _ANSWER),
            "natural_completion",
        ),
    )
)
_COSTS = tuple(
    _session(f"costs_{name}", (calls(_LOOK), _ANSWER), ends, max_cost_usd=most)
    for name, most, ends in (
        ("spent", 0.0005, "cost_budget_exhausted"),
        ("nearly_spent", 0.02, "any"),
        ("far_from_spent", 5.0, "any"),
    )
)
_FAILURES = tuple(
    _session(
        f"failures_of_the_model_{n}", (*(fails(500),) * n, says("It is high.")), "any", deployment="impatient"
    )
    for n in range(1, 6)
)
_GRANTS = tuple(
    _session(f"a_grant_{name}", (calls(_LOOK), says("High.")), "any", deployment=deployment, options=given)
    for name, deployment, given in (
        ("that_allows_it", "granted", {"scopes": ("read",)}),
        (
            "for_this_session",
            "granted",
            {"scopes": ("read",), "claims": {"session": "a_grant_for_this_session"}},
        ),
    )
)
_TOOLS = (
    _session(
        "tools_that_are_not_there", (calls(_LOOK), _ANSWER), options={"tools": ["look_up", "look_down"]}
    ),
    _session(
        "tools_of_which_none_is_there",
        (says("I have none."),),
        options={"tools": [f"no_tool_{n}" for n in range(22)]},
    ),
    _session(
        "tools_beyond_the_scopes",
        (says("I may not."),),
        options={"tools": ["look_up", "send_letter", "store_note"], "scopes": ("read",)},
        deployment="granted",
    ),
    _session(
        "tools_that_need_another_scope",
        (says("I may not."),),
        options={"tools": ["audit"]},
        deployment="all_tools",
    ),
)

SCENARIOS = (
    *(*_CALLS, *_ROUNDS, *_TOOL_ROUNDS, *_TOKENS, *_BARREN, *_COSTS),
    *(*_FAILURES, *_GRANTS, *_TOOLS),
)
