"""The choice of the offered tools for questions and notes that many tools fit nearly equally."""

from tests.recordings.scenario import Scenario, calls, says, use

_QUESTION = (
    "Which ferry calls at the harbour in a storm, and what does a ticket cost? Compare the tariffs of the berths. "
    "Send the invoice of the cargo to the customer; then check the signal of the lighthouse. Forecast the tide."
)

SCENARIOS = (
    Scenario(
        "tools_that_are_ranked",
        _QUESTION,
        (
            says(
                "<note>\nplan: measure the lamp of the mole\nopen: Which crew reads the map of the archive?\n</note>",
                use("find_tools", need="book a route for a boat"),
            ),
            calls(use("find_tools", need="weather letters")),
            says("That is all."),
        ),
        deployment="ranked",
    ),
)
NAMES = frozenset(one.name for one in SCENARIOS)
"""Coverage does not show the weight of a word."""
