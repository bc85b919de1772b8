"""A grant that is not examined, because there is no key: with a key, a useless grant is refused with its query."""

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
