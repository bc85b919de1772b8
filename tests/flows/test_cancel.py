"""A session is cancelled while its model, or one of its tools, would take ten minutes longer."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from antiphon_shared.events import COMPONENTS
from antiphon_shared.events.session import Response

from tests.flows.pipeline import FORMS, Pipeline, pipeline
from tests.flows.processes import kinds
from tests.flows.promises import assert_each_answered_once
from tests.messages_server import Scripted, Use

FOUND = "It is 12 cubits high"
SILENT, NEVER_ENDS = "a question the model broods over", "a question the model has no end of answers to"
READS, WRITES, EASY = (
    "a question for slow tools",
    "a question for a slow write",
    "a question without a reader",
)
LOOK_UP = Use(name="look_up", input={"what": "height"}, id="c1")
SCRIPT = [
    Scripted(when=EASY, text="Nobody knows.", repeat=True),
    Scripted(
        when=READS,
        uses=(
            LOOK_UP,
            Use(name="wait_for", input={"what": "a train"}, id="c2"),
            Use(name="doze", input={"what": "a dream"}, id="c3"),
        ),
    ),
    Scripted(when=WRITES, uses=(LOOK_UP, Use(name="send", input={"what": "a letter"}, id="c2"))),
    Scripted(when="Round 1 of", text="First the height.", uses=(LOOK_UP,), repeat=True),
    Scripted(when=SILENT, text="Never heard.", wait_s=600),
    Scripted(when=NEVER_ENDS, text="And so on. " * 10_000, event_wait_s=0.05),
]


@contextmanager
def slow_pipeline(tmp_path: Path, processes: int = 5, lease_s: float = 20) -> Iterator[Pipeline]:
    """Run a pipeline with one slot in each process: a call that holds it delays all others."""
    with pipeline(
        scripted=SCRIPT,
        processes=processes,
        ANTIPHON_TOOLS="tests.flows.endless_tools",
        ANTIPHON_COORDINATOR_DEADLINE_S="900",
        ANTIPHON_REASONING_ENGINE_CONCURRENCY="1",
        ANTIPHON_TOOL_DISPATCHER_CONCURRENCY="1",
        ANTIPHON_BUS_LEASE_S=str(lease_s),
        STEPS_FILE=str(tmp_path / "steps"),
    ) as five:
        yield five


def steps(tmp_path: Path) -> list[str]:
    """Return the log of the slow tools: `session tool begun`, or `cancelled`."""
    file = tmp_path / "steps"
    return file.read_text().splitlines() if file.exists() else []


def cancel(five: Pipeline, session_id: str, *options: str) -> None:
    """Cancel as a person would."""
    done = five.antiphon("sessions", "cancel", session_id, *options)
    assert done.returncode == 0, done.stderr


def uncertainties(response: Response, kind: str) -> set[str]:
    return {uncertainty.about for uncertainty in response.uncertainty if uncertainty.kind == kind}


def assert_cancelled_with_its_facts(response: Response) -> None:
    assert (response.status, response.termination_reason) == ("cancelled", "cancelled")
    assert FOUND in response.answer
    assert [source.tool for source in response.sources] == ["look_up"]


def assert_next_question_is_answered(five: Pipeline) -> None:
    """Check that nothing is in flight, and that the next question is answered."""
    five.wait_until_idle()
    five.submit(EASY, session_id="next")
    assert five.response_to("next").status == "complete"


@pytest.mark.parametrize("question", [SILENT, NEVER_ENDS])
def test_the_model_is_hung_up_on(tmp_path: Path, question: str) -> None:
    with slow_pipeline(tmp_path) as five:
        five.submit(question, session_id="s1")
        five.until(lambda: "tools.completed" in kinds(five.log("s1")), "a round to end")
        five.until(lambda: five.model.under_way() == 1, "the model to be asked")
        if question == NEVER_ENDS:
            five.until(lambda: bool(five.client.xlen(five.keys.deltas("s1"))), "the model to begin")
        cancel(five, "s1")
        assert_cancelled_with_its_facts(five.response_to("s1"))
        five.until(lambda: five.model.hung_up() == 1, "the model's server to see it")
        assert_next_question_is_answered(five)


@FORMS
def test_cancellable_tools_are_cancelled_and_the_others_are_abandoned(tmp_path: Path, processes: int) -> None:
    with slow_pipeline(tmp_path, processes) as five:
        five.submit(READS, session_id="s1")
        five.until(lambda: len(steps(tmp_path)) == 2, "both tools to begin")
        five.until(lambda: is_settled(five, "c1"), "the quick one to end")
        cancel(five, "s1")
        response = five.response_to("s1")
        assert_cancelled_with_its_facts(response)
        assert uncertainties(response, "call_unfinished") == {"wait_for c2", "doze c3"}
        five.until(lambda: "s1 wait_for cancelled" in steps(tmp_path), "the tool to be cancelled")
        assert_next_question_is_answered(five)
        assert five.terminate("tool_dispatcher", 60) == 0


def is_settled(five: Pipeline, call_id: str) -> bool:
    return bool(five.client.hexists(five.keys.of_session("s1", "journal:1"), f"outcome:{call_id}"))


@pytest.mark.parametrize("is_killed", [False, True], ids=["cancelled", "killed"])
def test_a_write_in_flight_is_reported_with_unknown_outcome_and_never_run_again(
    tmp_path: Path, is_killed: bool
) -> None:
    """The worker may be killed meanwhile, and another one takes over its batch."""
    with slow_pipeline(tmp_path, lease_s=1) as five:
        five.submit(WRITES, session_id="s1")
        five.until(lambda: steps(tmp_path) == ["s1 send begun"], "the write to begin")
        five.until(lambda: is_settled(five, "c1"), "the read beside it to end")
        if is_killed:
            five.kill("tool_dispatcher")
        cancel(five, "s1")
        response = five.response_to("s1")
        assert_cancelled_with_its_facts(response)
        assert uncertainties(response, "outcome_unknown") == {"send c2"}
        assert uncertainties(response, "call_unfinished") == set()
        if is_killed:
            five.start("tool_dispatcher")
        assert_next_question_is_answered(five)
        assert steps(tmp_path) == ["s1 send begun", *([] if is_killed else ["s1 send cancelled"])]
        assert not is_settled(five, "c2")


@pytest.mark.parametrize("kind", ["session", "run"])
def test_a_query_that_is_cancelled_in_the_queue_never_runs(tmp_path: Path, kind: str) -> None:
    """Cancel it while no coordinator runs: it gets its one answer from the next one, and nothing is called."""
    options = {"workflow": {"name": "w"}} if kind == "run" else {}
    with pipeline(scripted=SCRIPT, is_started=False, ANTIPHON_TOOLS="tests.flows.endless_tools") as five:
        five.submit(READS, session_id="s1", options=json.dumps(options))
        cancel(five, "s1", "--reason", "a typo")
        five.start(*COMPONENTS)
        response = five.response_to("s1")
        assert (response.status, response.termination_reason) == ("cancelled", "cancelled")
        five.wait_until_idle()
        assert not {"reasoning.requested", "tools.requested"} & set(kinds(five.log("s1")))
        assert_each_answered_once(five.responses(), ["s1"])
        exported = five.antiphon("recording", "export", "s1", "-o", str(tmp_path))
        assert exported.returncode == 0, exported.stderr
        assert "a typo" in five.antiphon("sessions", "show", "s1").stdout
        for how in ("verify", "rerun"):
            replayed = five.antiphon("replay", how, str(tmp_path))
            assert replayed.returncode == 0, replayed.stdout + replayed.stderr
        assert_next_question_is_answered(five)


def test_a_query_that_is_cancelled_while_it_waits_for_a_dispatcher_never_runs() -> None:
    present = [name for name in COMPONENTS if name != "tool_dispatcher"]
    with pipeline(scripted=SCRIPT, is_started=False) as five:
        five.start(*present)
        five.submit(EASY, session_id="s1")
        five.until(lambda: bool(five.client.exists(five.keys.log("s1"))), "the query is admitted")
        cancel(five, "s1")
        assert five.response_to("s1").status == "cancelled"
        assert "reasoning.requested" not in kinds(five.log("s1"))


def test_another_query_under_the_id_of_a_cancelled_one_runs() -> None:
    with pipeline(scripted=SCRIPT, is_started=False) as five:
        five.submit(EASY, session_id="s1")
        cancel(five, "s1")
        five.client.delete(five.keys.queries())  # as if the query had been lost, or rejected
        five.submit(EASY, session_id="s1")
        five.start(*COMPONENTS)
        assert five.response_to("s1").status == "complete"
