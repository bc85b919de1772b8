"""Batches whose calls name each other: malformed placeholders next to good ones, cycles, and calls whose dependency fails."""

from tests.messages_server import Use
from tests.recordings.placeholder_pages import MISSING, NAMES_OF_LENGTHS, PRESENT, SIZED
from tests.recordings.scenario import Scenario, calls, says, use

_PAGE = use("open_page", name="boat 2021")
_LONG_NAMES = tuple("n" * length for length in (199, 200, 201))
_BATCHES: dict[str, tuple[Use, ...]] = {
    "malformed": (
        _PAGE,
        use("open_page", name="${calls[0].name}"),
        use("open_page", name="${calls[x]}"),
        use("open_page", name="${calls[0].name"),
        use("open_page", name='${calls[0]["bad \\q"]}'),
        use("open_page", name="${calls[0].na me!!!!}" + "!" * 100),
        use("open_page", name="${calls[9].name}"),
        use("open_page", name="${calls[7]}"),
        use("find", query="${calls[0].name} and more"),
        use("find", query="$${calls[0].name}"),
        use("find", query="no placeholder ${calls"),
    ),
    "of_calls_beyond_the_last": (
        _PAGE,
        *(use("find", query=f"${{calls[{place}].name}}") for place in (0, 2, 4, 5, 6)),
    ),
    "paths": (
        _PAGE,
        use("find", query='${calls[0]["id"]}'),
        use("find", query="${calls[0]['name']}"),
        use("find", query="${calls[0].list[3].none}"),
        Use(name="find", input={"query": {"deep": ["${calls[0].id}", "${calls[1"]}}),
    ),
    "many_faults": (
        _PAGE,
        Use(name="find", input={"query": [f"${{calls[{n + 50}]}}" for n in range(25)]}),
    ),
    "circles": (
        use("find", query="${calls[1]}"),
        use("find", query="${calls[0]}"),
        use("find", query="${calls[2]}"),
        use("find", query="${calls[0]}"),
        _PAGE,
    ),
    "let_down": (
        use("trouble", kind="api_failure"),
        use("find", query="${calls[0].name}"),
        use("find", query="${calls[1].name}"),
        use("open_page", name="nowhere"),
        use("find", query="${calls[3].name}"),
    ),
    "of_every_value": (
        use("open_page", name="every value"),
        *(use("find", query=f"${{calls[0]{path}}}") for path in PRESENT),
        Use(name="find", input={"query": {"a": [f"${{calls[0]{path}}}" for path in PRESENT], "b": 1, "c": ["$${calls[0]}"]}}),
    ),
    "of_no_value": (
        use("open_page", name="every value"),
        *(use("find", query=f"${{calls[0]{path}}}") for path in MISSING),
        *(use("find", query=f"${{calls[0].{name}}}") for name in NAMES_OF_LENGTHS),
        *(Use(name="find", input={name: "${calls[0].nowhere}"}) for name in _LONG_NAMES),
    ),
    "of_many_missing_values": (
        use("open_page", name="every value"),
        *(Use(name="find", input={"query": [f"${{calls[0].x{n}}}" for n in range(most)]}) for most in (19, 20, 21)),
    ),
    "of_large_values": (
        use("open_page", name="sized values"),
        *(Use(name="find", input={"query": ["${calls[0].whole}"] * (SIZED - 1) + [f"${{calls[0].{last}}}"]})
          for last in ("less", "whole", "more")),
    ),
    "same_ids": (
        Use(name="find", input={"query": "a mole"}, id="one"),
        Use(name="find", input={"query": "a pier"}, id="one"),
        Use(name="find", input={"query": "a quay"}, id="one_2"),
        Use(name="find", input={"query": "a sea"}, id="one"),
        Use(name="find", input={"query": "half \udc00"}, id=""),
    ),
    "odd_arguments": (
        Use(name="find", input={}, written='{"query": NaN}'),
        Use(name="find", input={}, written='{"query": 1e999}'),
        Use(name="find", input={}, written='{"query": ' + "9" * 400 + "}"),
        Use(name="find", input={}, written='{"query": ' + "[" * 70 + "1" + "]" * 70 + "}"),
        Use(name="find", input={}, written='{"query": "\\udc00"}'),
        Use(name="find", input=["a", "list"]),
        Use(name="find", input={}, written='"a text"'),
        Use(name="", input={}),
        Use(name="fnid", input={"query": "close"}),
        Use(name="something_else_altogether", input={"query": "far"}),
    ),
}  # fmt: skip  # a table

SCENARIOS = tuple(
    Scenario(
        f"placeholders_{name}",
        f"What is there to find ({name})?",
        (calls(*batch), says("Not much.")),
        options={"max_tool_calls": 100},
        deployment="pages",
    )
    for name, batch in _BATCHES.items()
)
NAMES = frozenset(one.name for one in SCENARIOS if "_of_" in one.name or "odd" in one.name)
"""Situations of values and of odd arguments, which coverage does not distinguish."""
