"""Breakers at the command line: looked at, opened and closed by hand."""

from typing import Any

import orjson
import pytest
import redis
from antiphon_shared.breakers.breaker import BreakerState, Ending
from antiphon_shared.breakers.table import write_state
from antiphon_shared.bus.keys import Keys

from tests.antiphon.conftest import InProcess


def listed(run: InProcess, where: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run.json("breakers", "list", **where)
    return found


def keep(where: dict[str, str], name: str, state: BreakerState) -> None:
    with redis.Redis.from_url(where["ANTIPHON_REDIS_URL"]) as client:
        client.hset(Keys(where["ANTIPHON_NAMESPACE"]).breakers(), name, write_state(state))


def redis_time(where: dict[str, str]) -> float:
    with redis.Redis.from_url(where["ANTIPHON_REDIS_URL"]) as client:
        seconds, microseconds = client.time()
        return float(seconds) + float(microseconds) / 1e6


def test_a_breaker_opened_by_hand_shows_who_opened_it_and_why_until_it_is_closed(
    run: InProcess, empty: dict[str, str]
) -> None:
    opened = run("breakers", "open", "tool:search", "--because", "reindexing", "--by", "Ada", **empty)
    assert (opened.exit_code, "tool:search is open" in opened.stdout) == (0, True)
    (found,) = listed(run, empty)
    assert (found["name"], found["phase"], found["retry_in_s"]) == ("tool:search", "open", None)
    assert (found["held"]["by"], found["held"]["because"]) == ("Ada", "reindexing")
    for command in (("breakers", "list"), ("status",)):
        shown = run(*command, **empty).stdout
        assert "tool:search" in shown
        assert "Ada, reindexing" in shown
    closed = run("breakers", "close", "tool:search", **empty)
    assert (closed.exit_code, "calls resume" in closed.stdout) == (0, True)
    assert listed(run, empty) == []
    assert "was already closed" in run("breakers", "close", "tool:search", **empty).stdout
    assert "All breakers are closed" in run("breakers", "list", **empty).stderr


def test_breaker_commands_report_json(run: InProcess, empty: dict[str, str]) -> None:
    opened = run("breakers", "open", "model:claude", "--json", **empty)
    assert orjson.loads(opened.stdout) == {"name": "model:claude", "phase": "open"}
    assert listed(run, empty)[0]["held"]["because"] == ""
    closed = run("breakers", "close", "model:claude", "--json", **empty)
    assert orjson.loads(closed.stdout) == {"name": "model:claude", "phase": "closed"}


def test_status_lists_open_and_half_open_breakers(run: InProcess, empty: dict[str, str]) -> None:
    now = redis_time(empty)
    ending = Ending(at=now, is_failure=True)
    keep(empty, "tool:down", BreakerState(endings=(ending,) * 5, opened=now + 10))
    keep(empty, "tool:tried", BreakerState(endings=(ending,) * 5, opened=now - 100))
    keep(empty, "tool:shaky", BreakerState(endings=(ending,)))
    shown = run("status", **empty).stdout
    assert "tool:down   open       5 of 5" in shown
    assert "tool:tried  half-open  5 of 5" in shown
    assert "tool:shaky" not in shown
    phases = {one["name"]: (one["phase"], one["failures"]) for one in listed(run, empty)}
    assert phases == {
        "tool:down": ("open", 5),
        "tool:tried": ("half_open", 5),
        "tool:shaky": ("closed", 1),
    }


@pytest.mark.parametrize(
    "name", ["search", "tool:", "tool:a b", "tools:a", "model:", "tool:" + "x" * 65, "tool:\n"]
)
@pytest.mark.parametrize("command", ["open", "close"])
def test_an_invalid_breaker_name_is_refused_with_the_expected_form(
    run: InProcess, empty: dict[str, str], command: str, name: str
) -> None:
    assert "tool:NAME or model:ID" in run.refused("breakers", command, name, **empty)


def test_a_reason_that_is_too_long_is_refused(run: InProcess, empty: dict[str, str]) -> None:
    assert "to 300 characters" in run.refused(
        "breakers", "open", "tool:search", "--because", "x" * 301, **empty
    )
    assert listed(run, empty) == []


def test_an_unavailable_redis_is_reported(run: InProcess) -> None:
    done = run("breakers", "list", ANTIPHON_REDIS_URL="redis://127.0.0.1:1")
    assert done.exit_code == 3
    assert "Redis" in done.stderr


def test_an_unknown_tool_is_pointed_out(run: InProcess, pipeline: dict[str, str]) -> None:
    done = run("breakers", "open", "tool:find_recip", **pipeline)
    assert (done.exit_code, "No dispatcher currently offers find_recip." in done.stderr) == (0, True)
    run("breakers", "close", "tool:find_recip", **pipeline)
    assert run("breakers", "open", "tool:find_recipe", **pipeline).stderr == ""
    run("breakers", "close", "tool:find_recipe", **pipeline)
