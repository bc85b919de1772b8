"""Recorded sessions, run again by the whole pipeline, against a model and tools that answer from the recording."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from antiphon_shared.breakers.breaker import Breaker, ForcedOpen
from antiphon_shared.bus.breaker_store import BreakerStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import BriefingReady, DeadlineReached
from antiphon_shared.process.clock import utc_now

import coordinator.component
import tool_dispatcher.component
from antiphon import Antiphon
from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line
from antiphon.replay.rerun import rerun
from antiphon.replay.rerun_report import RerunReport
from antiphon.replay.serving.recording_index import RecordingIndex
from antiphon.replay.testing.judged import Diverged
from antiphon.replay.testing.recorded_question import Recorded
from reasoning_engine import prompt
from tests.antiphon.recording.recorded import events
from tests.antiphon.recording.scripted import LET_GO, During, scripted, until_logged
from tests.envelopes import an_event
from tests.messages_server import MessagesServer, Scripted, Use
from tool_dispatcher.authoring.tool import Tool

ANSWER = Scripted(text="It is as high as it is wide [F1].", repeat=True)
BEHIND_THE_ANSWER = Path(__file__).parent / "serving" / "a_summary_that_fails_behind_the_answer.jsonl.gz"
"""Made by an early release, in format 1."""
LOOK_UP = Use(name="look_up", input={"what": "height"})


async def rerun_of(lines: list[Line], folder: Path) -> RerunReport:
    path = folder / "one.jsonl"
    write_lines(path, lines)
    (report,) = await rerun([path])
    return report


def kinds(lines: list[Line]) -> list[str]:
    return [line.event.type.split(".", 1)[1].removesuffix(".v1") for line in events(lines)]


async def test_a_session_is_the_same_when_it_is_run_again(
    courses_path: Path, the_real_model: MessagesServer
) -> None:
    (report,) = await rerun([courses_path])
    assert report.is_same, report
    assert report.answer == "same"
    assert report.first is None
    assert not the_real_model.requests


async def test_rerun_waits_for_work_in_flight_after_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine of any speed: the log alone does not show that no event will follow."""

    async def counted_once(bus: Bus, session_id: str, count: int) -> bool:
        await asyncio.sleep(0)
        entries: int = await bus.batcher.submit("XLEN", bus.keys.log(session_id))
        return entries >= count

    monkeypatch.setattr("antiphon.replay.rerun.wait_for_events", counted_once)
    (report,) = await rerun([BEHIND_THE_ANSWER])
    assert report.is_same, report
    assert report.first is None, report.first


RETRIES = [
    Scripted(status=529, error="overloaded_error", headers={"retry-after": "1"}),
    Scripted(text="It is not wh", break_after=4),
    Scripted(status=500, body="no JSON"),
    Scripted(text="First the height.", uses=(LOOK_UP,)),
    Scripted(text="In two parts: ", stop_reason="pause_turn"),
    Scripted(text="", break_after=0, break_by="error", error="overloaded_error"),
    ANSWER,
]
FAILING = [Scripted(status=500, repeat=True)]
INVALID = [Scripted(uses=(LOOK_UP,)), Scripted(status=400, error="invalid_request_error"), ANSWER]
BROKEN = [
    Scripted(uses=(Use(name="look_up", input={}, written='{"what": "hei'), LOOK_UP)),
    Scripted(uses=(Use(name="fall_down", input={"what": "shelf"}), Use(name="unknown", input={}), LOOK_UP)),
    Scripted(text="", repeat=True),
]
BEYOND_64_BITS = [Scripted(uses=(Use(name="look_up", input={"what": 9**30}), LOOK_UP)), ANSWER]
CUT = [Scripted(uses=(LOOK_UP,)), Scripted(text="It is as", stop_reason="max_tokens", repeat=True)]


@pytest.mark.parametrize(
    ("script", "options"),
    [
        (RETRIES, {}),
        (FAILING, {"deadline_s": 5}),
        (INVALID, {}),
        (BROKEN, {}),
        (CUT, {}),
        (BEYOND_64_BITS, {}),
    ],
    ids=["retries", "failing", "invalid", "broken", "cut", "beyond 64 bits"],
)
async def test_a_rerun_repeats_any_behaviour_of_the_model(
    script: list[Scripted], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = await scripted(monkeypatch, script, **options)
    report = await rerun_of(lines, tmp_path)
    assert report.is_same, report
    assert report.first is None, report.first


async def cancel_at_the_model(antiphon: Antiphon, id: str, server: MessagesServer) -> None:
    while True:
        if server.under_way:
            break
        await asyncio.sleep(0.01)
    await antiphon.cancel(id, "enough")


async def cancel_at_the_tools(antiphon: Antiphon, id: str, server: MessagesServer) -> None:
    await _one_has_ended(antiphon, id)
    await antiphon.cancel(id, "enough")


async def run_out_at_the_model(antiphon: Antiphon, id: str, server: MessagesServer) -> None:
    await until_logged(antiphon, id, "antiphon.reasoning.requested.v1", 2)
    await _run_out(antiphon, id)


async def run_out_at_the_tools(antiphon: Antiphon, id: str, server: MessagesServer) -> None:
    await _one_has_ended(antiphon, id)
    await _run_out(antiphon, id)


async def _one_has_ended(antiphon: Antiphon, id: str) -> None:
    """Wait until one tool of the first round has ended."""
    await until_logged(antiphon, id, "antiphon.tools.requested.v1")
    while not await antiphon.open_bus().session(id).settled("journal:1"):  # noqa: ASYNC110  # it tells no events
        await asyncio.sleep(0.01)


async def _run_out(antiphon: Antiphon, id: str) -> None:
    """Let the deadline pass now, before any other component notices it."""
    event = an_event(DeadlineReached(), id).model_copy(update={"time": utc_now()})
    await antiphon.open_bus().publish(event, "signal")


async def answer_it(antiphon: Antiphon, id: str, server: MessagesServer) -> None:
    await until_logged(antiphon, id, "antiphon.question.asked.v1")
    await antiphon.answer(id, "The tower.", by="a user")


async def deny_it(antiphon: Antiphon, id: str, server: MessagesServer) -> None:
    await until_logged(antiphon, id, "antiphon.approval.requested.v1")
    await antiphon.deny(id, by="a user", reason="It is late.")


_LOOKED_AT_S = 1.0
"""Several times as long as between two looks of a component at the breakers."""


async def hold(antiphon: Antiphon, id: str, after: str, breaker: str) -> None:
    """Open a breaker by hand when an event has been logged, and wait until it is seen."""
    await until_logged(antiphon, id, after)
    bus = antiphon.open_bus()
    await BreakerStore(bus.batcher, bus.keys).set_by_hand(
        breaker, lambda now: Breaker().force_open(ForcedOpen(at=now))
    )
    await asyncio.sleep(_LOOKED_AT_S)


async def hold_the_tool(antiphon: Antiphon, id: str, server: MessagesServer) -> None:
    await hold(antiphon, id, "antiphon.reasoning.requested.v1", "tool:look_up")
    server.let_go.set()


async def hold_the_model(antiphon: Antiphon, id: str, server: MessagesServer) -> None:
    await hold(antiphon, id, "antiphon.tools.requested.v1", "model:claude-sonnet-5-5")
    LET_GO.add(id)


OUT_OF_ORDER = [Scripted(uses=(LOOK_UP,), is_held=True), ANSWER]
SLOWLY = [Scripted(uses=(Use(name="dawdle", input={}),)), ANSWER]
OTHER_MODEL = {"ANTIPHON_MODELS": "another-model"}
PONDERING = [Scripted(uses=(LOOK_UP, Use(name="ponder", input={"what": "end"}))), ANSWER]
ASKING = [Scripted(uses=(Use(name="ask_user", input={"question": "Which one?"}), LOOK_UP)), ANSWER]
HANGING = [Scripted(uses=(LOOK_UP,)), Scripted(text="", wait_s=600, repeat=True)]
APPROVAL = {"ANTIPHON_TOOL_DISPATCHER_APPROVAL": "look_up"}


@pytest.mark.parametrize(
    ("script", "during", "options", "settings", "kind"),
    [
        (HANGING, cancel_at_the_model, {}, {}, "cancellation.requested"),
        (PONDERING, cancel_at_the_tools, {}, {}, "cancellation.requested"),
        (PONDERING, run_out_at_the_tools, {}, {}, "deadline.reached"),
        (HANGING, run_out_at_the_model, {}, {}, "deadline.reached"),
        (ASKING, answer_it, {"interactive": True}, {}, "question.answered"),
        (ASKING, None, {"interactive": True}, {"ANTIPHON_COORDINATOR_PERSON_WAIT_S": "1"}, "person.overdue"),
        ([Scripted(uses=(LOOK_UP,)), ANSWER], deny_it, {}, APPROVAL, "approval.decided"),
        (OUT_OF_ORDER, hold_the_tool, {}, {}, "outages.seen"),
        (SLOWLY, hold_the_model, {}, OTHER_MODEL, "outages.seen"),
        (SLOWLY, hold_the_model, {}, {}, "outages.seen"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", ""),
)
async def test_a_rerun_repeats_external_events_in_their_order(
    script: list[Scripted],
    during: During | None,
    options: dict[str, Any],
    settings: dict[str, str],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    lines = await scripted(monkeypatch, script, during, settings=settings, **options)
    assert kind in kinds(lines)
    report = await rerun_of(lines, tmp_path)
    assert report.is_same, report
    assert report.first is None, report.first


def without_models(own: str, others: Iterable[str]) -> tuple[str, ...]:
    return ()


def without_tools(tools: Iterable[Tool]) -> dict[str, Tool]:
    return {}


@pytest.mark.parametrize(
    ("component", "name", "mistake", "first"),
    [
        (coordinator.component, "in_order", without_models, "antiphon.session.opened.v1"),
        (tool_dispatcher.component, "Registry", without_tools, "antiphon.tools.completed.v1"),
    ],
    ids=["coordinator", "tool_dispatcher"],
)
async def test_a_wiring_mistake_of_a_component_is_reported(
    component: ModuleType,
    name: str,
    mistake: object,
    first: str,
    courses_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(component, name, mistake)
    (report,) = await rerun([courses_path])
    assert report.first is not None
    assert report.first.type == first


async def test_facts_keep_the_recorded_weight_of_their_embeddings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = {"ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS": f"{scripted.__module__}:embed"}
    lines = await scripted(monkeypatch, [Scripted(uses=(LOOK_UP,)), ANSWER], settings=settings)
    assert any(one.salience for _, one in RecordingIndex(lines).all_of(BriefingReady))
    report = await rerun_of(lines, tmp_path)
    assert report.first is None, report.first
    assert report.is_same, report


async def test_a_changed_prompt_fails_and_is_shown_next_to_the_recorded_one(
    courses_path: Path, monkeypatch: pytest.MonkeyPatch, the_real_model: MessagesServer
) -> None:
    changed = prompt.SYSTEM.replace("You answer a question in rounds.", "You answer in haste.")
    monkeypatch.setattr(prompt, "_SYSTEM", [{**prompt._SYSTEM[0], "text": changed}])
    with pytest.raises(Diverged, match="You answer in haste") as failure:
        await asyncio.to_thread(Recorded(courses_path, "none").rerun)
    report = failure.value.report
    assert isinstance(report, RerunReport)
    assert report.answer == "different"
    assert {miss.of for miss in report.misses} == {"model"}
    diff = report.misses[0].diff.splitlines()
    assert any(line.startswith("-") and "You answer a question in rounds." in line for line in diff)
    assert any(line.startswith("+") and "You answer in haste." in line for line in diff)
    assert report.first is not None
    assert report.first.type == "antiphon.reasoning.completed.v1"
    assert not the_real_model.requests
