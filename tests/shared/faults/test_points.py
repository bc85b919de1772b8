"""The table of points, the code and the page of docs name the same."""

import re
from pathlib import Path

from antiphon_shared.faults.points import ACTIONS, POINTS

from tests.house.test_tidiness import PACKAGES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reliability.md").read_text()
ELSEWHERE = {
    "redis.commands.sent": "shared/antiphon_shared/bus/wire.py",
    "redis.read.sent": "shared/antiphon_shared/bus/reader.py",
}
"""Points that reach their `faults.pass_point` through a variable."""


def places() -> list[str]:
    """Return the points in the code, once for each place."""
    code = [file.read_text() for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    return [name for text in code for name in re.findall(r'await faults\.pass_point\(\s*"([a-z_.]+)"', text)]


def test_every_point_is_passed_at_exactly_one_place() -> None:
    direct = [name for name in POINTS if name not in ELSEWHERE]
    assert sorted(places()) == sorted(direct)
    for name, file in ELSEWHERE.items():
        assert f'"{name}"' in (ROOT / file).read_text()


def test_the_page_lists_every_point_and_every_action() -> None:
    for point in POINTS.values():
        assert f"| `{point.name}` | {point.meaning} |" in PAGE
    for action, meaning in ACTIONS.items():
        assert f"| `{action}` | {meaning} |" in PAGE
