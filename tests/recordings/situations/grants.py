"""Grants that are of no use, each for another reason, and sessions that they would have been for."""

from base64 import urlsafe_b64encode

from tests.grants import a_grant
from tests.recordings.scenario import Scenario, says

_NO_JSON = urlsafe_b64encode(b"no JSON").decode().rstrip("=")
_READ = ["read"]
_GRANTS = {
    "of_one_word": "leave",
    "of_no_json": f"e30.{_NO_JSON}.e30",
    "of_bare_json": "e30.W10.e30",
    "without_scopes": a_grant(["a b"]),
    "of_no_time": a_grant(_READ, exp=10**17),
    "of_the_past": a_grant(_READ, exp=1_000_000_000),
    "for_somebody_else": a_grant(_READ, aud="another"),
    "for_another_session": a_grant(_READ, session="another"),
}

SCENARIOS = tuple(
    Scenario(
        f"a_grant_of_no_use_{name}",
        "May I read on?",
        (says("I may not."),),
        options={"conversation_id": "one"} if name == "of_the_past" else {},
        grant=grant,
        is_by_hand=True,
        deployment="pages",
    )
    for name, grant in _GRANTS.items()
)
NAMES = frozenset(one.name for one in SCENARIOS)
"""Coverage does not tell one reason from another where they share a line."""
