"""A grant that is not looked at, as there is no key to verify it with: one of no use is refused with its query."""

from tests.grants import a_grant
from tests.recordings.scenario import Scenario, says

SCENARIOS = (
    Scenario(
        "a_grant_of_no_use_without_a_key_here",
        "May I read on?",
        (says("I may not."),),
        grant=a_grant(["read"]),
        deployment="pages",
    ),
)
