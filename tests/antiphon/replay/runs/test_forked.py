"""Recorded runs are forked: from an event or a node, by their own specification or by another."""

from collections.abc import Callable
from typing import Any

import pytest
from antiphon_shared.events import ResponseReady, ToolsRequested

from antiphon.recording.lines import EventLine, Header, Line
from antiphon.replay.forking.changes import read_changes
from antiphon.replay.forking.event_at import NoSuchPoint
from antiphon.replay.forking.fork_run import fork_run
from antiphon.replay.forking.run_point import is_run
from antiphon.replay.verify import verify_lines
from tests.antiphon.replay.runs.travel import TOOLS, specification

WRITES = read_changes(sets=["ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES=read,write"])


async def forked(
    lines: list[Line],
    *,
    place: str = "",
    node: str = "",
    change: Callable[[dict[str, Any]], object] | None = None,
) -> list[Line]:
    other = None if change is None else specification(change)
    return await fork_run(lines, place, node, specification=other, changes=WRITES, tools=list(TOOLS))


async def test_a_run_is_forked_at_a_node_and_keeps_its_completed_nodes(runs: dict[str, list[Line]]) -> None:
    lines = await forked(runs["chain"], node="b")

    assert answer(lines).result == {"booking": "B-F3", "n": 3}
    assert called(lines) == ["a", "b"]
    assert isinstance(lines[0], Header)
    assert lines[0].parent is not None
    report = verify_lines(lines)
    assert (report.result, report.first) == ("same", None)


async def test_a_run_is_forked_at_a_node_with_another_specification(runs: dict[str, list[Line]]) -> None:
    def other_flight(w: dict[str, Any]) -> None:
        w["chain"]["graph"]["b"]["args"]["id"] = "other-$x"

    lines = await forked(runs["chain"], node="b", change=other_flight)

    assert answer(lines).result == {"booking": "B-other-3", "n": 3}
    assert called(lines) == ["a", "b"]
    assert verify_lines(lines).result == "same"


async def test_a_run_is_forked_at_its_first_node_with_another_specification(
    runs: dict[str, list[Line]],
) -> None:
    def other_output(w: dict[str, Any]) -> None:
        w["chain"]["output"] = {"only": "$b.booking"}

    lines = await forked(runs["chain"], node="a", change=other_output)

    assert answer(lines).result == {"only": "B-F3"}
    assert verify_lines(lines).result == "same"


async def test_a_run_is_forked_at_an_event_with_calls_in_flight(
    runs: dict[str, list[Line]],
) -> None:
    """Three items of a foreach were in flight when the run began."""
    lines = await forked(runs["fan"], place="1")

    then = answer(runs["fan"])
    assert answer(lines).result == then.result
    assert verify_lines(lines).result == "same"


async def test_a_forked_run_continues_after_the_answer_of_a_person(runs: dict[str, list[Line]]) -> None:
    """From the values that a person gave to the end; no person is asked again."""
    given = [
        line.n
        for line in runs["ask"]
        if isinstance(line, EventLine) and line.event.type == "antiphon.input.given.v1"
    ]
    settled = next(
        line.n
        for line in runs["ask"]
        if isinstance(line, EventLine)
        and line.n > given[-1]
        and line.event.type == "antiphon.nodes.settled.v1"
    )

    lines = await forked(runs["ask"], place=str(settled))

    assert answer(lines).run is not None
    assert answer(lines).run.status == "completed"  # type: ignore[union-attr]  # it is a run
    assert verify_lines(lines).result == "same"


async def test_a_specification_with_another_path_before_the_fork_point_is_refused(
    runs: dict[str, list[Line]],
) -> None:
    def other_first(w: dict[str, Any]) -> None:
        w["chain"]["graph"]["a"]["call"] = "price"
        w["chain"]["graph"]["a"]["args"] = {"id": "X"}

    with pytest.raises(
        NoSuchPoint, match="have differed before that point: at event 1, `a` would call `price`"
    ) as refused:
        await forked(runs["chain"], node="b", change=other_first)

    assert "--from-node a" in (refused.value.hint or "")


async def test_a_node_that_never_started_is_refused_with_those_that_did(runs: dict[str, list[Line]]) -> None:
    with pytest.raises(NoSuchPoint, match="did not start a node 'dear'") as refused:
        await forked(runs["cheap"], node="dear")

    assert "a, cheap" in (refused.value.hint or "")


async def test_a_fork_where_a_person_is_waited_for_is_refused(runs: dict[str, list[Line]]) -> None:
    with pytest.raises(NoSuchPoint, match="waits for a person at `q`"):
        await forked(runs["ask"], place="2")


def test_a_session_is_distinguished_from_a_run(
    runs: dict[str, list[Line]], courses_lines: list[Line]
) -> None:
    assert is_run(runs["chain"])
    assert not is_run(courses_lines)


def answer(lines: list[Line]) -> ResponseReady:
    found = [
        one.event.data
        for one in lines
        if isinstance(one, EventLine) and isinstance(one.event.data, ResponseReady)
    ]
    assert len(found) == 1
    return found[0]


def called(lines: list[Line]) -> list[str]:
    return [
        one.event.data.node
        for one in lines
        if isinstance(one, EventLine) and isinstance(one.event.data, ToolsRequested)
    ]
