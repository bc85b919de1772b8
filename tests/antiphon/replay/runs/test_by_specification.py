"""Recorded runs are compared with another specification: the first node that differs is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from antiphon.cli import app
from antiphon.recording.files import write_lines
from antiphon.recording.lines import EventLine, Line, RecordLine
from antiphon.replay.by_specification.compared_run import Specifications, compare_run
from antiphon.replay.by_specification.result import SpecificationResult
from antiphon.replay.by_specification.sums import end_in_words
from tests.antiphon.replay.runs.travel import WORKFLOWS, specification

NAMES = ("chain", "cheap", "dear", "fan", "undo", "ask", "approved", "unfit", "secret")
Graphs = dict[str, Any]


def nodes(workflows: Graphs, name: str) -> dict[str, Any]:
    found: dict[str, Any] = workflows[name]["graph"]
    return found


def found(
    lines: list[Line], change: Callable[[Graphs], object] = lambda workflows: None
) -> SpecificationResult:
    return compare_run(lines, Specifications.of([specification(change)]))


@pytest.mark.parametrize("name", NAMES)
def test_by_its_own_specification_every_decision_is_the_same(runs: dict[str, list[Line]], name: str) -> None:
    result = found(runs[name])

    assert (result.result, result.first) == ("same", None)
    assert result.decisions == sum(
        isinstance(line, RecordLine) and line.record.kind == "run" for line in runs[name]
    )


def other_tool(w: Graphs) -> None:
    nodes(w, "chain")["b"]["call"] = "price"


def other_arguments(w: Graphs) -> None:
    nodes(w, "chain")["b"]["args"]["note"] = "for $x"


def one_more(w: Graphs) -> None:
    nodes(w, "chain")["c"] = {"call": "price", "depends_on": ["a"], "args": {"id": "$a.found.0.id"}}


def other_output(w: Graphs) -> None:
    w["chain"]["output"] = {"n": "$a.n"}


def skipped(w: Graphs) -> None:
    nodes(w, "chain")["b"]["when"] = "$x > 5"
    w["chain"]["output"]["booking"] = "${b?.booking}"


def one_param_more(w: Graphs) -> None:
    w["chain"]["params"]["y"] = {"type": "int", "required": True}
    del w["fan"]


def other_arm(w: Graphs) -> None:
    nodes(w, "choose")["pick"]["on"][0]["when"] = "$a.price < 200"


def more_at_once(w: Graphs) -> None:
    nodes(w, "fan")["each"]["concurrency"] = 6


def fewer_at_once(w: Graphs) -> None:
    nodes(w, "fan")["each"]["concurrency"] = 1


def fewer_items(w: Graphs) -> None:
    nodes(w, "fan")["each"]["items"] = "range(0, 5)"


def no_undoing(w: Graphs) -> None:
    del nodes(w, "undo")["a"]["compensate"]


def longer_wait(w: Graphs) -> None:
    nodes(w, "ask")["w"]["seconds"] = 5


def other_message(w: Graphs) -> None:
    nodes(w, "ask")["q"]["message"] = "Really?"


def short_timeout(w: Graphs) -> None:
    nodes(w, "ask")["q"]["timeout_s"] = 0.000001


def without_node(w: Graphs) -> None:
    del w["chain"], w["fan"]


DIFFERING: tuple[tuple[str, Callable[[Graphs], None], str, str, str, str], ...] = (
    ("chain", other_tool, "tool", "b", "`b` would call `price` instead of `book`", "is unknown"),
    ("chain", other_arguments, "arguments", "b", "`b` would be called with another `note`", "is unknown"),
    ("chain", one_more, "begins", "c", "`c` would call `price`", "is unknown"),
    ("chain", other_output, "output", "", "the run would return another output: `booking`", "another output"),
    ("chain", skipped, "not_begun", "b", "`b` would be skipped instead of calling `book`", "another output"),
    ("chain", one_param_more, "end", "", "the run would end as failed before it starts", "ends as failed"),
    ("chain", without_node, "gone", "", "the workflow `chain` would not exist", "is unknown"),
    ("cheap", other_arm, "branch", "pick", "`pick` would go to `dear` instead of `cheap`", "is unknown"),
    ("fan", more_at_once, "begins_earlier", "each/3", "`each/*` would start earlier", "it ends as before"),
    (
        "fan",
        fewer_at_once,
        "begins_later",
        "each/1",
        "`each/*` would start at another time",
        "it ends as before",
    ),
    ("fan", fewer_items, "not_begun", "each/5", "`each/*` would not call `look`", "is unknown"),
    ("ask", longer_wait, "wait", "w", "`w` would wait for another time", "it ends as before"),
    ("ask", other_message, "question", "q", "`q` would ask a person differently", "it ends as before"),
)


@pytest.mark.parametrize(
    ("name", "change", "kind", "node", "sentence", "end"),
    DIFFERING,
    ids=lambda one: getattr(one, "__name__", None),
)
def test_the_first_node_that_would_diverge_is_named(
    runs: dict[str, list[Line]],
    name: str,
    change: Callable[[Graphs], None],
    kind: str,
    node: str,
    sentence: str,
    end: str,
) -> None:
    result = found(runs[name], change)

    assert result.result == "differs"
    assert result.first is not None
    assert (result.first.kind, result.first.node, result.first.sentence) == (kind, node, sentence)
    assert end in end_in_words(result)


def test_a_change_in_an_untaken_branch_does_not_diverge(runs: dict[str, list[Line]]) -> None:
    def in_other_arm(w: Graphs) -> None:
        nodes(w, "choose")["cheap"]["args"]["note"] = "hurry"
        nodes(w, "choose")["after"] = {"call": "price", "depends_on": ["cheap"], "args": {"id": "X"}}

    assert found(runs["dear"], in_other_arm).result == "same"


def test_the_order_in_which_nodes_are_written_means_nothing(runs: dict[str, list[Line]]) -> None:
    def backwards(w: Graphs) -> None:
        for name in w:
            w[name]["graph"] = dict(reversed(list(nodes(w, name).items())))

    for name in NAMES:
        assert found(runs[name], backwards).result == "same", name


def test_a_retry_that_does_not_apply_to_a_recorded_failure_does_not_diverge(
    runs: dict[str, list[Line]],
) -> None:
    """An unknown outcome is not tried again; a limit that nothing reached is no other way."""

    def retried(w: Graphs) -> None:
        nodes(w, "undo")["b"]["on_error"] = {"retry": 1}

    assert found(runs["undo"], retried).result == "same"


def test_a_changed_question_of_a_reason_node_diverges(around: dict[str, list[Line]]) -> None:
    def otherwise(w: Graphs) -> None:
        nodes(w, "reasons")["pick"]["question"] = "What is the price for two of $x?"

    result = found(around["reasons"], otherwise)

    assert found(around["reasons"]).result == "same"
    assert result.first is not None
    assert (result.first.kind, result.first.node) == ("arguments", "pick")
    assert result.first.sentence == "`pick` would be called with another `question`"
    assert "is unknown" in end_in_words(result)


def test_a_missing_result_is_named_with_its_tool_and_node(runs: dict[str, list[Line]]) -> None:
    result = found(runs["chain"], other_tool)

    assert result.rest is not None
    assert result.rest.missing == ("the result of `price` at `b`",)


def test_a_limit_counts_only_where_it_would_have_been_reached(runs: dict[str, list[Line]]) -> None:
    def shorter(w: Graphs) -> None:
        nodes(w, "ask")["q"]["timeout_s"] = 300
        w["ask"]["timeout_s"] = 300

    assert found(runs["ask"], shorter).result == "same"


def test_an_answer_after_the_other_specifications_timeout_diverges_as_timed_out(
    runs: dict[str, list[Line]],
) -> None:
    """Given values that came three hours after they were asked for."""
    late = _hours_later(runs["ask"], 3)

    def impatient(w: Graphs) -> None:
        nodes(w, "ask")["q"]["timeout_s"] = 3_600

    result = found(late, impatient)

    assert found(late).result == "same"
    assert result.first is not None
    assert (result.first.kind, result.first.node) == ("limit", "q")
    assert result.first.sentence == "`q` would have timed out"


def test_a_session_that_is_not_a_run_and_a_run_of_another_domain_are_not_concerned(
    runs: dict[str, list[Line]], courses_lines: list[Line]
) -> None:
    from antiphon.workflows import build

    other = Specifications.of(
        [build({"domain": "hotels", "version": "1", "workflows": {"stay": WORKFLOWS["undo"]}})]
    )

    assert compare_run(courses_lines, other).result == "other"
    assert compare_run(runs["chain"], other).result == "other"


def test_many_runs_are_reported_by_their_common_difference(
    runs: dict[str, list[Line]], tmp_path: Path
) -> None:
    """One line with how many for each first difference; 1 where any differs, 0 where none does."""
    folder = _folder(runs, tmp_path, times=3)
    same, other = _file(tmp_path / "same.json"), _file(tmp_path / "other.json", other_tool, other_arm)

    alike = CliRunner().invoke(app, ["replay", "verify", "--workflows", str(same), str(folder)])
    result = CliRunner().invoke(app, ["replay", "verify", "--workflows", str(other), str(folder)])

    assert alike.exit_code == 0, alike.output
    assert result.exit_code == 1, result.output
    assert "3 runs of chain: `b` would call `price` instead of `book`" in result.output
    assert "3 runs of choose: `pick` would go to `dear` instead of `cheap`" in result.output
    assert "from there, 3: its continuation is unknown" in result.output


def test_the_result_as_json(runs: dict[str, list[Line]], tmp_path: Path) -> None:
    folder = _folder(runs, tmp_path)
    other = _file(tmp_path / "other.json", other_arguments)

    done = CliRunner().invoke(
        app,
        ["replay", "verify", "--workflows", str(other), str(folder), "--json", "-q"],
    )

    document = json.loads(done.stdout)
    assert (document["result"], document["counts"]["differs"]) == ("differs", 2)  # `fan` books by `chain`
    chain = next(one for one in document["recordings"] if one["path"].endswith("chain-0.jsonl"))
    assert chain["first"]["would"] == {"id": "F3", "note": "for 3"}


def test_a_file_that_is_wrong_is_refused_with_its_problems(
    runs: dict[str, list[Line]], tmp_path: Path
) -> None:
    folder = _folder(runs, tmp_path)
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("domain: travel\nversion: '1'\nworkflows: {}\n")

    done = CliRunner().invoke(app, ["replay", "verify", "--workflows", str(wrong), str(folder)])

    assert done.exit_code == 2
    assert "workflows" in done.output


def test_a_comparison_without_a_run_is_not_the_same(courses_lines: list[Line], tmp_path: Path) -> None:
    write_lines(tmp_path / "courses.jsonl", courses_lines)
    same = _file(tmp_path / "same.json")

    done = CliRunner().invoke(
        app, ["replay", "verify", "--workflows", str(same), str(tmp_path / "courses.jsonl")]
    )

    assert done.exit_code == 4


def _folder(runs: dict[str, list[Line]], tmp_path: Path, times: int = 1) -> Path:
    folder = tmp_path / "recordings"
    folder.mkdir()
    for name, lines in runs.items():
        for number in range(times):
            write_lines(folder / f"{name}-{number}.jsonl", lines)
    return folder


def _file(path: Path, *changes: Callable[[Graphs], None]) -> Path:
    def all_of(w: Graphs) -> None:
        for change in changes:
            change(w)

    path.write_text(specification(all_of).model_dump_json(by_alias=True, exclude_defaults=True))
    return path


def _hours_later(lines: list[Line], hours: int) -> list[Line]:
    """Return the recording with all events after the question delayed by a duration."""
    from dataclasses import replace
    from datetime import timedelta

    by = timedelta(hours=hours)
    new: list[Line] = []
    is_asked = False
    for line in lines:
        if isinstance(line, EventLine) and is_asked:
            milliseconds, _, number = line.entry.partition("-")
            entry = f"{int(milliseconds) + round(by.total_seconds() * 1000)}-{number}"
            line = replace(
                line, entry=entry, event=line.event.model_copy(update={"time": line.event.time + by})
            )
        is_asked = is_asked or (
            isinstance(line, EventLine) and line.event.type == "antiphon.input.requested.v1"
        )
        new.append(line)
    return new
