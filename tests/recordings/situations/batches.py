"""Batches whose calls wait for each other, or fail with their dependencies; see also placeholders.py."""

from tests.recordings.scenario import Scenario, calls, says, use

_BATCHES = {
    "a_dependency_that_failed": (use("open_page", name="nowhere"), use("ask_owner", name="Aker")),
    "a_dependency_without_the_field": (use("open_page", name="boat 2021"), use("ask_owner", name="Aker")),
    "dependencies_without_the_field": (
        use("open_page", name="boat 2021"),
        use("open_page", name="scalar"),
        use("open_page", name="whole record"),
        use("ask_owner", name="Aker"),
    ),
    "a_dependency_that_gives_it": (use("open_page", name="owned"), use("ask_owner", name="Aker")),
    "a_dependency_in_records": (use("open_page", name="all owned"), use("ask_owner", name="Aker")),
    "a_dependency_that_is_not_called": (use("look_closer", at="the mole"),),
    "a_dependency_without_fields": (use("find", query="mole"), use("look_closer", at="the mole")),
    "divers": (use("dive", to="the reef"), use("dive", to="the wreck"), use("dive", to="the bay"), use("find", query="bay")),
    "repeated_writes_in_order": (
        use("paint", what="quay"),
        use("paint", what="mole"),
        use("paint", what="quay"),
        use("paint", what="${calls[0].painted}"),
        use("paint", what="quay"),
    ),
    "nothing_but_invented_tools": (use("invented"), use("opem_page", name="x"), use("invented_too")),
}  # fmt: skip  # a table
_VAIN = ("a_dependency_that_failed", "a_dependency_that_is_not_called", "nothing_but_invented_tools")

SCENARIOS = (
    *(
        Scenario(
            f"batches_with_{name}",
            f"What comes of {name}?",
            (calls(*batch), calls(*batch), says("That.")),
            ends="all_tools_failed" if name in _VAIN else "natural_completion",
            deployment="page_writes",
        )
        for name, batch in _BATCHES.items()
    ),
    Scenario(
        "a_batch_for_a_session_without_tools",
        "What comes of calls where there are no tools?",
        (calls(use("find", query="x")), says("Nothing.")),
        ends="any",
        options={"tools": []},
        deployment="page_writes",
    ),
)
