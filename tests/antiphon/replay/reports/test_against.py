"""A comparison of two codes: words, JSON and Markdown."""

import orjson

from antiphon.replay.against.changes import Change, Compared, StepChange
from antiphon.replay.against.decisions import Case, Decision
from antiphon.replay.reports.against import Summary, document, headline, reported

PROMPT = "# Rules\n```\nAnswer <b>briefly</b>.\n```"


def a_summary(*, count: int = 8, unchecked: int = 0, error: str = "", allowed: str = "") -> Summary:
    change = Change(
        4, "antiphon.x.v1", "reasoning_engine", "request", "system", PROMPT, PROMPT, f"{PROMPT}\nNow."
    )
    step = StepChange(4, "antiphon.x.v1", "reasoning_engine", (change,))
    cases = tuple(Case(f"r/{n}_a.jsonl", str(n), step) for n in range(count))
    recordings = [Compared(case.path, case.session_id, (step,), alike=1) for case in cases]
    if unchecked:
        recordings.append(
            Compared("r/u.jsonl", unchecked={"coordinator: no record was made of it": unchecked})
        )
    if error:
        recordings.append(Compared("r/e.jsonl", errors={"before": error}))
    decisions = [
        Decision("send the model another system prompt", cases, count, ("a/b.py: SYSTEM", "a/b.py: rule"))
    ]
    return Summary("main (1a2b3c4)", "1a2b3c4d", recordings, decisions if cases else [], allowed)


def test_each_decision_has_its_sentence_its_first_change_and_the_other_recordings() -> None:
    lines = list(reported(a_summary()))
    assert lines[:3] == [
        "8 sessions now send the model another system prompt, because a/b.py: SYSTEM, a/b.py: rule differ",
        "  first: r/0_a.jsonl, event 4 (antiphon.x.v1)",
        "  reasoning_engine, request system:",
    ]
    assert "    + Now." in lines
    assert lines[-1].endswith("r/5_a.jsonl and 2 more")


def test_the_headline_counts_changes_and_shared_divergences() -> None:
    assert headline(a_summary()) == (
        "8 recordings against main (1a2b3c4): 8 changed; 8 divergences from the record that both have"
    )


def test_an_unreadable_or_unchecked_recording_is_never_reported_as_same() -> None:
    assert a_summary(count=0, error="format 2 is newer").result == "unreadable"
    assert a_summary(count=0, unchecked=2).result == "unchecked"
    assert list(reported(a_summary(count=0, error="it is newer"))) == [
        "r/e.jsonl: unreadable before: it is newer"
    ]


def test_json_has_every_change_of_every_recording() -> None:
    found = orjson.loads(document(a_summary(unchecked=2, allowed="why")))
    assert found["counts"] == {"same": 0, "changed": 8, "unchecked": 1, "unreadable": 0}
    assert found["against"] == {"name": "main (1a2b3c4)", "commit": "1a2b3c4d"}
    assert found["decisions"][0]["sessions"] == 8
    assert found["recordings"][7]["changes"][0]["before"] == PROMPT
    assert found["allowed_unchecked"] == "why"
