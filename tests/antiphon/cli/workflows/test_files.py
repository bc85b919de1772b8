"""`antiphon workflows` checks files by its exit code, in words, JSON and annotations, and shows their contents."""

import json
import re
from pathlib import Path

import pytest
from antiphon_shared.text.yaml_text import read_yaml
from jsonschema_rs import Draft202012Validator
from pydantic_core import from_json

from antiphon import workflows
from tests.antiphon.conftest import ROOT, InProcess

TRAVEL = str(ROOT / "examples/travel/workflows.yaml")
NAMES = [
    "check_flight_status",
    "book_seat",
    "book_flight",
    "book_hotel",
    "book_trip",
    "find_cheapest_across_dates",
    "book_with_approval",
    "recommend_trip",
    "cancel_trip",
]
FAULTY = """
domain: soups
version: "1.0"
workflows:
  cook:
    description: Cook a soup.
    params: { query: { type: str, required: true }, salt: { type: int } }
    graph:
      find: { call: find_recipes, args: { query: $query } }
      read: { call: find_recipe, args: { query: $find.0.title } }
"""


@pytest.fixture
def faulty(folder: Path) -> str:
    (folder / "faulty.yaml").write_text(FAULTY)
    return "faulty.yaml"


def test_the_example_is_valid_with_its_tools(run: InProcess) -> None:
    done = run("workflows", "validate", TRAVEL, "--tools", "examples.travel")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "1 file, 0 errors, 0 warnings.\n"


def test_all_problems_are_named_at_once_and_the_exit_code_is_1(run: InProcess, faulty: str) -> None:
    done = run("workflows", "validate", TRAVEL, faulty, "--tools", "recipes,examples.travel")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "faulty.yaml:7:59: warning: workflows.cook.params.salt: nothing uses the param salt. Remove it.",
        "faulty.yaml:9:21: error: workflows.cook.graph.find.call: there is no tool find_recipes. "
        "Did you mean find_recipe? There are: add_to_waitlist, book_hotel, cancel_booking, cancel_hotel, "
        "check_availability, confirm_trip, create_booking, find_recipe, process_payment, search_flights, "
        "search_hotels.",
        "faulty.yaml:10:49: error: workflows.cook.graph.read.args.query: $find.0.title is used, and the edge from "
        "find to read is missing: nothing says that find runs before. Add find to depends_on of read.",
    ]
    assert done.stderr == "2 files, 2 errors, 1 warning.\n"


def test_two_files_with_a_workflow_of_the_same_name_have_an_error(run: InProcess, folder: Path) -> None:
    (folder / "both").mkdir()
    for domain in ("soups", "stews"):
        text = FAULTY.replace("domain: soups", f"domain: {domain}")
        (folder / "both" / f"{domain}.yaml").write_text(text)
    done = run("workflows", "validate", "both")
    assert done.exit_code == 1
    assert (
        "workflows.cook: both/soups.yaml has a workflow cook too, and a workflow is run by its name alone"
        in done.stdout
    )
    assert done.stderr.startswith("2 files, ")


def test_warnings_alone_pass(run: InProcess, folder: Path) -> None:
    fixed = FAULTY.replace("find_recipes", "find_recipe").replace(
        "read: { call", "read: { depends_on: [find], call"
    )
    (folder / "fixed.yaml").write_text(fixed)
    done = run("workflows", "validate", "fixed.yaml", "--tools", "recipes")
    assert (done.exit_code, done.stderr) == (0, "1 file, 0 errors, 1 warning.\n")


def test_validating_without_tools_reports_the_skipped_checks(run: InProcess, faulty: str) -> None:
    done = run("workflows", "validate", faulty)
    assert "unknown_tool" not in done.stdout
    assert "Calls were not compared with tools. Name the tools with --tools." in done.stderr


def test_json_has_a_record_for_each_problem(run: InProcess, faulty: str) -> None:
    done = run("workflows", "validate", faulty, "--tools", "recipes", "--json")
    found = from_json(done.stdout)
    assert [(one["severity"], one["code"], one["line"], one["column"]) for one in found] == [
        ("warning", "unused", 7, 59),
        ("error", "unknown_tool", 9, 21),
        ("error", "missing_edge", 10, 49),
    ]
    assert found[1]["path"] == ["workflows", "cook", "graph", "find", "call"]
    assert (found[1]["file"], found[1]["message"]) == ("faulty.yaml", "there is no tool find_recipes")


def test_annotations_are_those_of_github(run: InProcess, faulty: str) -> None:
    done = run("workflows", "validate", faulty, "--github")
    assert [line.partition("::workflows")[0] for line in done.stdout.splitlines()] == [
        "::warning file=faulty.yaml,line=7,col=59,title=unused",
        "::error file=faulty.yaml,line=10,col=49,title=missing_edge",
    ]
    both = run("workflows", "validate", faulty, "--github", "--json")
    assert (both.exit_code, both.stdout) == (2, "")


@pytest.mark.parametrize(
    ("content", "code", "why"),
    [(None, 2, "it does not exist"), (b"\xff\xfe", 3, "it is not UTF-8 text (byte 1)")],
)
def test_a_missing_file_ends_with_2_and_an_unreadable_one_with_3(
    run: InProcess, folder: Path, content: bytes | None, code: int, why: str
) -> None:
    if content is not None:
        (folder / "other.yaml").write_bytes(content)
    for words in (("validate",), ("list",), ("show", "w")):
        done = run("workflows", *words, "other.yaml")
        assert done.exit_code == code
        assert why in done.stdout + done.stderr


def test_tools_that_cannot_be_imported_are_an_error_of_usage(run: InProcess, faulty: str) -> None:
    assert run("workflows", "validate", faulty, "--tools", "no_such_module").exit_code == 2


def test_workflows_are_listed_and_shown(run: InProcess) -> None:
    listed = run("workflows", "list", TRAVEL, "--json")
    assert [one["name"] for one in from_json(listed.stdout)] == NAMES
    shown = run("workflows", "show", "book_trip", TRAVEL).stdout
    assert "travel_booking.book_trip, version 1.0" in shown
    assert "on partial failure -> rollback" in shown
    assert 'returns "$trip"' in shown
    fields = run.json("workflows", "show", "book_trip", TRAVEL)
    assert re.fullmatch("[0-9a-f]{32}", fields["hash"])
    assert fields["graph"]["both"]["on_partial_failure"] == "rollback"
    assert f"There are: {', '.join(NAMES)}." in run.refused("workflows", "show", "book", TRAVEL)


def test_a_workflow_with_errors_is_not_shown(run: InProcess, faulty: str) -> None:
    done = run("workflows", "show", "cook", faulty)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "missing_edge" not in done.stderr
    assert "the edge from find to read is missing" in done.stderr


def test_a_graph_is_drawn_as_text_and_for_markdown(run: InProcess) -> None:
    text = run("workflows", "graph", "book_flight", TRAVEL).stdout
    assert "has_flight    branch  after flights" in text
    assert '$if_full == "waitlist" -> waitlist' in text
    drawn = run("workflows", "graph", "book_flight", TRAVEL, "--format", "mermaid").stdout.splitlines()
    assert drawn[0] == "flowchart TD"
    assert '    n_has_seat{"has_seat<br/>branch"}' in drawn
    assert "    n_availability --> n_has_seat" in drawn
    assert '    n_has_seat -. "$if_full == #34;waitlist#34;" .-> n_waitlist' in drawn


def test_a_graph_is_written_to_a_file(run: InProcess, folder: Path) -> None:
    written = run("workflows", "graph", "book_trip", TRAVEL, "-o", "trip.txt")
    assert (written.exit_code, written.stdout) == (0, "")
    assert (folder / "trip.txt").read_text() == run("workflows", "graph", "book_trip", TRAVEL).stdout
    assert "nowhere/trip.txt cannot be written: No such file or directory" in run.refused(
        "workflows", "graph", "book_trip", TRAVEL, "-o", "nowhere/trip.txt"
    )


def test_the_schema_accepts_what_the_loader_accepts(run: InProcess) -> None:
    schema = from_json(run("workflows", "schema").stdout)
    validator = Draft202012Validator(schema)
    good = read_yaml(Path(TRAVEL).read_text()).value
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "domain": "A"})
    node = good["workflows"]["book_flight"]["graph"]["flights"]
    node["argz"] = node.pop("args")
    assert not validator.is_valid(good)


def test_python_loads_and_validates(folder: Path, faulty: str) -> None:
    specification = workflows.load(TRAVEL, tools=["examples.travel"])
    assert [*specification.workflows] == NAMES
    assert workflows.validate(specification, tools=["examples.travel"]) == ()
    assert [one.code for one in workflows.validate(folder / faulty)] == ["unused", "missing_edge"]
    with pytest.raises(workflows.InvalidWorkflow) as invalid:
        workflows.load(folder / faulty)
    assert [one.code for one in invalid.value.problems] == ["missing_edge"]
    assert "faulty.yaml:10:49: error" in str(invalid.value)


def test_building_from_fields_gives_the_same_workflows_as_loading_the_file() -> None:
    fields = read_yaml(Path(TRAVEL).read_text()).value
    assert workflows.build(fields, tools=["examples.travel"]) == workflows.load(TRAVEL)
    with pytest.raises(workflows.InvalidWorkflow, match=r"error: domain: 'T' is not a valid name"):
        workflows.build({**fields, "domain": "T"})
    with pytest.raises(workflows.InvalidWorkflow, match="there is no tool check_availability"):
        workflows.build(fields, tools=["examples.courses"])
    for unfit in (object(), float("nan")):
        with pytest.raises(workflows.InvalidWorkflow, match="the fields are not JSON"):
            workflows.build({**fields, "description": unfit})


def test_a_file_with_too_many_faults_names_the_first(folder: Path) -> None:
    calls = "\n".join(f"      n{n}: {{ call: look, when: $x{n} }}" for n in range(300))
    (folder / "many.yaml").write_text(FAULTY.partition("      find:")[0] + calls)
    found = workflows.validate(folder / "many.yaml")
    assert len(found) == 201
    assert found[-1].message == "there are 102 more; correct these first"


class TestDryRun:
    def test_a_dry_run_shows_each_call_and_the_end(self, run: InProcess) -> None:
        done = run(
            "workflows", "dry-run", "book_trip", TRAVEL, "--param", "nights=1", "--tools", "examples.travel"
        )
        assert done.exit_code == 0
        lines = done.stdout.splitlines()
        given = 'origin="NYC", destination="LIS", day="2030-05-01"'
        assert lines[0] == f"both/flight/flights: calls search_flights({given})"
        assert "completed" in lines

    def test_results_of_a_file_decide(self, run: InProcess, folder: Path) -> None:
        (folder / "results.json").write_text('{"flights": []}')
        done = run("workflows", "dry-run", "book_flight", TRAVEL, "--results", "results.json", "--json")
        document = json.loads(done.stdout)
        assert (document["status"], document["because"]) == (
            "failed",
            "No flight leaves NYC for LIS on 2030-05-01.",
        )

    def test_cover_shows_the_end_of_every_path(self, run: InProcess) -> None:
        done = run(
            "workflows", "dry-run", "book_trip", TRAVEL, "--cover", "--json", "--tools", "examples.travel"
        )
        document = json.loads(done.stdout)
        assert (done.exit_code, document["never_reached"]) == (0, [])
        ends = {one["scenario"]: one["status"] for one in document["runs"]}
        assert ends["both/room/stay fails"] == "compensated"
        shown = run("workflows", "dry-run", "book_trip", TRAVEL, "--cover")
        assert f"{len(ends)} runs: " in shown.stdout

    @pytest.mark.parametrize(
        ("words", "why"),
        [
            (("--param", "nigts=1"), "param 'nigts' does not exist. Did you mean nights?"),
            (("--param", "nights"), "has no value. Use NAME=VALUE."),
            (("--param", "nights=x"), "--param nights is not valid JSON"),
            (("--param", 'nights="7"'), "param 'nights': \"7\" is str, but int is required"),
            (("--results", "nowhere.json"), "--results: nowhere.json does not exist"),
            (("--results", "list.json"), "list.json does not contain an object"),
            (("--results", "other.json"), "node 'trips' does not exist. Did you mean trip?"),
        ],
    )
    def test_invalid_params_and_results_are_refused(
        self, run: InProcess, folder: Path, words: tuple[str, ...], why: str
    ) -> None:
        (folder / "list.json").write_text("[]")
        (folder / "other.json").write_text('{"trips": 1}')
        assert why in run.refused("workflows", "dry-run", "book_trip", TRAVEL, *words)


def test_syntax_errors_do_not_hide_the_other_errors(run: InProcess, folder: Path) -> None:
    twice = FAULTY + "      find: { call: find_recipe, args: { query: $nothing }, depnds_on: [] }\n"
    (folder / "twice.yaml").write_text(twice)
    done = run("workflows", "validate", "twice.yaml", "--tools", "recipes", "--json")
    found = {(one["code"], one["line"]) for one in json.loads(done.stdout)}
    assert {("syntax", 11), ("unknown_key", 11)} <= found, (
        "the file has find twice, and depends_on is misspelt"
    )
    assert len(found) >= 4, "and both references lead nowhere"
