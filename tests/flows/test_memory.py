"""Memory across real processes: facts without a place are summarized in parallel, recalled, and cited."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.bus.handling import MEMORY
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.memory.session_memory import Memory

from tests.flows.archive_tools import HARBOURS, statement
from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.processes import kinds
from tests.messages_server import Scripted, Use

QUESTION = "Which harbour has a lighthouse of its own, and since when?"
SUMMARY = "\n".join(f"F{n}: {statement(n)}" for n in (101, 103))
RECALLED = 146
"""A harbour that a small briefing has no place for."""
ANSWER = f"Holm 4 has one [F4], and Holm {RECALLED} a chapel [F{RECALLED}]."


def a_pipeline(second_round: Path | None = None, **summary: Any) -> AbstractContextManager[Pipeline]:
    """Return a pipeline of three rounds: the archive, a note and a recall, the answer; and a parallel summary.

    The second takes a second, or until the file is there that is named for it.
    """
    pace = {"wait_s": 1} if second_round is None else {"waits_for": str(second_round)}
    archive = Use(name="read_archive", input={"topic": "lighthouses"})
    recall = Use(name="recall", input={"id": f"F{RECALLED}"})
    note = f"concluded: Holm 4 has one [F4]\nopen: What is said of Holm {RECALLED}?"
    words = f"The first one may do.\n<note>\n{note}\n</note>"
    script = [
        Scripted(when="You shorten notes", repeat=True, **summary),
        Scripted(when="Round 1 of", repeat=True, uses=(archive,)),
        Scripted(when="Round 2 of", repeat=True, text=words, uses=(recall,), **pace),
        Scripted(when="Round 3 of", repeat=True, text=ANSWER),
    ]
    return pipeline(scripted=script, ANTIPHON_CONTEXT_SYNTHESIZER_BRIEFING_TOKENS="900")


def memory_of(five: Pipeline, session_id: str) -> Memory:
    items: Any = five.client.lrange(five.keys.of_session(session_id, MEMORY), 0, -1)
    return Memory.of(QUESTION, map(MemoryDelta.model_validate_json, items))


def is_summarized(five: Pipeline, session_id: str) -> bool:
    """Return whether the summary is there, and the coordinator has its event."""
    is_there = "summary.completed" in kinds(five.log(session_id))
    return is_there and not five.client.xlen(five.keys.inbox(0, "coordinator"))


def test_facts_that_do_not_fit_are_summarized_recalled_and_cited(tmp_path: Path) -> None:
    with a_pipeline(second_round := tmp_path / "go-on", text=SUMMARY) as five:
        five.submit(QUESTION, session_id="s1")
        five.until(lambda: is_summarized(five, "s1"), "the summary")
        second_round.touch()
        response = five.response_to("s1")
        five.wait_until_idle()
        assert response.status == "complete"
        assert response.answer.startswith(f"Holm 4 has one [1], and Holm {RECALLED} a chapel [2].")
        assert [source.excerpt for source in response.sources] == [statement(4), statement(RECALLED)]
        assert "summarized" in [uncertainty.kind for uncertainty in response.uncertainty]

        memory = memory_of(five, "s1")
        assert len(memory.facts) == HARBOURS, "recalled facts are not filed twice"
        assert [summary.facts for summary in memory.summaries] == [("F101", "F103")]
        briefing = five.briefing("s1")
        assert f"\nF4 {statement(4)}\n" in briefing, "a conclusion rests on it"
        assert f"\nF{RECALLED} {statement(RECALLED)}\n" in briefing, "it was recalled"
        assert SUMMARY.replace("\n", "\n  ") in briefing


@pytest.mark.parametrize(
    "summary",
    [{"text": "F101: The harbour of Holm 101 has 999 berths."}, {"text": SUMMARY, "wait_s": 300}],
    ids=["invented", "never comes"],
)
def test_a_summary_that_cannot_be_believed_or_never_comes_changes_nothing_else(
    summary: dict[str, Any],
) -> None:
    with a_pipeline(**summary) as five:
        five.submit(QUESTION, session_id="s1")
        response = five.response_to("s1")
        assert response.status == "complete"
        assert [source.id for source in response.sources] == ["F4", f"F{RECALLED}"]
        assert "summary.requested" in kinds(five.log("s1"))
        assert memory_of(five, "s1").summaries == ()
        assert "# Summaries" not in five.briefing("s1")


def test_a_synthesizer_that_is_killed_between_rounds_leaves_the_same_memory_to_another() -> None:
    with a_pipeline(status=500) as five:
        five.submit(QUESTION, session_id="undisturbed")
        five.response_to("undisturbed")
        five.submit(QUESTION, session_id="s1")
        five.until(lambda: kinds(five.log("s1")).count("briefing.ready") >= 2, "the second briefing")
        five.running["context_synthesizer"].kill()
        five.running["context_synthesizer"].wait()
        five.start("context_synthesizer-2")
        assert five.response_to("s1").status == "complete"
        assert five.briefing("s1") == five.briefing("undisturbed")
