"""The pytest plugin, in runs of pytest of its own."""

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest
from antiphon_shared.events import ReasoningRequested

from antiphon.recording.files import write_lines
from antiphon.recording.lines import End, EventLine, Line, RecordLine
from antiphon.replay.verify import verify
from tests.antiphon.recording.recorded import COURSES_QUERY, events
from tests.flows.processes import ROOT

pytest_plugins = "pytester"

_PLUGIN = ("-p", "antiphon.replay.pytest_plugin", "-p", "no:langsmith_plugin")
_ASKS = f"""
    import pytest

    @pytest.mark.recording("courses.jsonl")
    def test_courses(recording):
        response = recording.ask({COURSES_QUERY!r}, tools=["examples.courses"], model="offline")
        assert response.status == "complete"
        assert recording.query.startswith("Find a course")
        assert recording.tool_results[0].tool == "get_course_outline"
        assert recording.events[0].type == "antiphon.query.submitted.v1"
"""


@pytest.fixture(autouse=True)
def _everything_is_imported(courses_lines: list[Line]) -> None:
    """Import first what a run inside this process would import, and drop again: else it would be there twice.

    Each run would also take a second for the model's SDK.
    """
    for part in ("choices", "items", "pipelines", "recorded_question", "scripted", "strike"):
        import_module(f"antiphon.replay.testing.{part}")
    import_module("reasoning_engine.model")


@pytest.fixture
def folder(pytester: pytest.Pytester, courses_lines: list[Line]) -> Path:
    """Return a folder that holds one recording."""
    folder = pytester.mkdir("recordings")
    write_lines(folder / "courses.jsonl", courses_lines)
    return folder


def hurried(lines: list[Line]) -> list[Line]:
    """Return the same session as if the coordinator had hurried the model."""
    asked = next(line for line in events(lines) if isinstance(line.event.data, ReasoningRequested))
    data = asked.event.data.model_copy(update={"notice": "Hurry."})
    event = asked.event.model_copy(update={"data": data})
    return [
        replace(line, event=event) if line is asked and isinstance(line, EventLine) else line
        for line in lines
    ]


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    ours = (*_PLUGIN, "--strict-markers", "-o", "asyncio_default_fixture_loop_scope=function")
    return pytester.runpytest_inprocess(*ours, *arguments)


@pytest.mark.usefixtures("folder")
def test_each_recording_is_a_test(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--antiphon-recordings", "recordings", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*recordings/courses.jsonl::verify PASSED*"])


def test_a_recording_that_diverges_fails_and_says_where(
    pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]
) -> None:
    write_lines(folder / "hurried.jsonl", hurried(courses_lines))
    result = run(pytester, "--antiphon-recordings", "recordings")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*hurried.jsonl: diverged at event*coordinator*notice*", '*- "Hurry."*', '*+ ""*', "*replay update*"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_recording_that_cannot_be_checked_fails_unless_a_reason_allows_it(
    pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]
) -> None:
    bare = [line for line in courses_lines[:-1] if not isinstance(line, RecordLine)]
    write_lines(folder / "bare.jsonl", [*bare, End(events=20, records=0)])
    result = run(pytester, "--antiphon-recordings", "recordings")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*bare.jsonl: not checked whole, 20 events, 0 steps checked (none), 19 not (coordinator 10*",
            "*Unchecked steps do not count*--antiphon-allow-unchecked*",
            "recorded steps checked: coordinator 10, reasoning_engine 3*; not checked: coordinator 10, *",
        ]
    )
    options = ("--antiphon-recordings", "recordings", "--antiphon-allow-unchecked", "made by hand")
    allowed = run(pytester, *options, "--junitxml", "report.xml")
    allowed.assert_outcomes(passed=2)
    allowed.stdout.fnmatch_lines(["unchecked steps are allowed: made by hand"])
    counted = ElementTree.parse(pytester.path / "report.xml").iterfind(".//property")
    assert ("antiphon.unchecked.coordinator", "10") in {
        (one.get("name"), one.get("value")) for one in counted
    }


def test_a_test_may_say_why_steps_of_its_recording_go_unchecked(
    pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]
) -> None:
    bare = [line for line in courses_lines[:-1] if not isinstance(line, RecordLine)]
    write_lines(folder / "bare.jsonl", [*bare, End(events=20, records=0)])
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.recording("bare.jsonl", allow_unchecked="made by hand")
        def test_marked(recording):
            assert recording.verify().result == "unchecked"

        @pytest.mark.recording("bare.jsonl")
        def test_in_the_call(recording):
            assert recording.verify(allow_unchecked="made by hand").unchecked_steps["coordinator"] == 10

        @pytest.mark.recording("bare.jsonl")
        def test_strict(recording):
            recording.verify()
        """
    )
    result = run(pytester, "--antiphon-recordings", "recordings", "-k", "not verify")
    result.assert_outcomes(passed=2, failed=1, deselected=2)


def test_a_recording_that_cannot_be_read_fails_in_words(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "torn.jsonl").write_bytes((folder / "courses.jsonl").read_bytes()[:5_000])
    (folder / "empty.jsonl").touch()
    (folder / "notes.txt").write_text("no recording")
    result = run(pytester, "--antiphon-recordings", "recordings")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*empty.jsonl: it is empty*", "*torn.jsonl, line*"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.usefixtures("folder")
def test_naming_tests_runs_those_without_the_recordings_of_an_ini_file(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    pytester.makeini("[pytest]\naddopts = --antiphon-recordings recordings")
    named = "test_naming_tests_runs_those_without_the_recordings_of_an_ini_file.py"
    run(pytester, named).assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=2)
    run(pytester, named, "--antiphon-recordings", "recordings").assert_outcomes(passed=2)


@pytest.mark.usefixtures("folder")
def test_workers_of_xdist_share_the_recordings(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # each process loads what it needs, no more
    pytester.makepyfile("def test_one(): pass")
    result = pytester.runpytest_subprocess(
        *_PLUGIN, "-p", "xdist", "-n", "1", "--antiphon-recordings", "recordings"
    )
    result.assert_outcomes(passed=2)


def test_a_folder_that_is_not_there_is_a_mistake(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--antiphon-recordings", "nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*nowhere is not a folder*--antiphon-record=once*"])


def test_a_folder_without_recordings_is_a_mistake(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    pytester.mkdir("empty").joinpath("notes.txt").write_text("None yet.")
    result = run(pytester, "--antiphon-recordings", "empty")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*empty contains no recordings. Name a folder with recordings*--antiphon-record=once*"]
    )
    result = run(pytester, "--antiphon-recordings", "empty", "--antiphon-record", "once")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["antiphon: no recordings: *empty contains no recordings*"])


@pytest.mark.usefixtures("folder")
def test_a_test_with_the_marker_is_answered_from_its_recording(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_ASKS)
    run(pytester, "--antiphon-recordings", "recordings", "-k", "test_courses").assert_outcomes(
        passed=1, deselected=1
    )


def test_a_recording_may_lie_beside_its_test(pytester: pytest.Pytester, courses_lines: list[Line]) -> None:
    write_lines(pytester.path / "courses.jsonl", courses_lines)
    pytester.makepyfile(_ASKS)
    run(pytester).assert_outcomes(passed=1)


def test_what_is_not_recorded_fails_and_says_how_to_record(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_ASKS)
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Recording *courses.jsonl does not exist*--antiphon-record=once*"])


def test_once_records_what_is_missing_and_never_again(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_ASKS)
    options = ("--antiphon-recordings", "made", "--antiphon-record")
    run(pytester, *options, "once").assert_outcomes(passed=1)
    made = pytester.path / "made" / "courses.jsonl"
    written = made.read_bytes()
    assert verify(made).is_same
    run(pytester, *options, "once").assert_outcomes(passed=2)
    run(pytester, *options, "none").assert_outcomes(passed=2)
    assert made.read_bytes() == written
    assert [path.name for path in made.parent.iterdir()] == ["courses.jsonl"]


_FAILS = _ASKS + "        assert recording.path.exists() and 'O-17' in response.answer\n"


def test_what_a_failed_test_has_recorded_is_not_kept(pytester: pytest.Pytester) -> None:
    options = ("--antiphon-recordings", "made", "--antiphon-record=once")
    pytester.makepyfile(_FAILS)
    run(pytester, *options).assert_outcomes(failed=1)
    assert list((pytester.path / "made").iterdir()) == []
    run(pytester, *options).assert_outcomes(failed=1)  # and it is asked again, not answered from what failed


def test_a_test_that_fails_leaves_the_recording_that_it_would_have_rewritten(
    pytester: pytest.Pytester, folder: Path
) -> None:
    before = (folder / "courses.jsonl").read_bytes()
    pytester.makepyfile(_FAILS)
    options = ("--antiphon-recordings", "recordings", "--antiphon-record=rewrite", "-k", "test_courses")
    run(pytester, *options).assert_outcomes(failed=1, deselected=1)
    assert (folder / "courses.jsonl").read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["courses.jsonl"]


def test_a_folder_of_an_ini_file_may_come_later(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    pytester.makeini("[pytest]\naddopts = --antiphon-recordings recordings")
    result = run(pytester)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["antiphon: no recordings: *--antiphon-record=once*"])


@pytest.mark.usefixtures("folder")
def test_a_test_that_fails_shows_its_own_line_and_the_difference_alone(
    pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]
) -> None:
    write_lines(folder / "courses.jsonl", hurried(courses_lines))
    pytester.makepyfile(_ASKS)
    options = ("--antiphon-recordings", "recordings", "-k", "test_courses")
    result = run(pytester, *options)
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["*> *recording.ask(*", "E *diverged at event*", 'E *- "Hurry."*'])
    result.stdout.no_fnmatch_line("*judged.py*")
    result.stdout.no_fnmatch_line("*recorded.py*")
    run(pytester, *options, "--full-trace").stdout.fnmatch_lines(["*judged.py*"])


def test_rewrite_records_again(pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]) -> None:
    write_lines(folder / "courses.jsonl", hurried(courses_lines))
    pytester.makepyfile(_ASKS)
    options = ("--antiphon-recordings", "recordings", "--antiphon-record=rewrite", "-k", "test_courses")
    run(pytester, *options).assert_outcomes(passed=1, deselected=1)
    assert verify(folder / "courses.jsonl").is_same


_ADD = 'from antiphon import tool\n@tool(effect="read")\ndef add(a: int) -> int:\n    "Adds."\n    return a\n'


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        ("Find a course", "Find any course", ["query", '  - "Find a course*', '  + "Find any course*']),
        (
            'model="offline"',
            'model="offline", citations="strict"',
            ["options.citations", "- null", '+ "strict"'],
        ),
        ('model="offline"', 'model="offline", max_rounds=2', ["options.max_rounds", "- null", "+ 2"]),
        ('model="offline"', 'scopes=["read", "write"]', ["scopes*1*", "- (absent)", '+ "write"']),
        ('model="offline"', "model=scripted_model", ["model", '- "offline"', '+ "scripted"']),
        ('model="offline"', 'session_id="other"', ["session_id", '- "*-*-*"', '+ "other"']),
        ('["examples.courses"]', "[]", ["tools.get_course_outline", '- "schema *"', "+ (absent)"]),
        ('["examples.courses"]', '["examples.courses", add]', ["tools.add", "- (absent)", '+ "schema *"']),
        (
            '["examples.courses"]',
            "altered()",
            [
                "tools.get_course_outline: schema * then, schema * now",
                "description",
                '- "*"',
                '+ "Other words."',
            ],
        ),
    ],
)
def test_a_recording_of_another_question_is_no_answer(
    pytester: pytest.Pytester, then: str, now: str, said: list[str]
) -> None:
    altered = """
def altered():
    from antiphon import Tool
    from antiphon.embedded import registry_of
    tools = dict(registry_of(["examples.courses"]))
    old = tools["get_course_outline"]
    parameters = {name: part for name, part in old.definition.input_schema.items() if name != "x-orchestration"}
    tools[old.name] = Tool(old.name, "Other words.", parameters, lambda arguments: None, effect="read")
    return list(tools.values())
"""
    asks = _ASKS.replace("\n    ", "\n").replace("(recording)", "(recording, scripted_model)")
    assert then in asks
    pytester.makepyfile(_ADD + altered + asks.replace(then, now))
    result = run(pytester, "--antiphon-recordings", "recordings", "-k", "test_courses")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        ["*differs from the recorded question in *courses.jsonl:*", *(f"*{line}*" for line in said)]
    )


def test_a_script_that_says_something_else_is_another_question(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
    import pytest

    @pytest.mark.recording("four.jsonl")
    def test_four(recording, scripted_model):
        scripted_model.fails(529).says("Four.")
        response = recording.ask("What is two and two?", model=scripted_model)
        assert (response.answer, scripted_model.left, len(scripted_model.requests)) == ("Four.", 0, 2)
    """
    monkeypatch.setenv("ANTIPHON_REASONING_ENGINE_BACKOFF_INITIAL_S", "0.001")
    pytester.makepyfile(source)
    run(pytester, "--antiphon-record=once").assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=1)
    pytester.makepyfile(source.replace('says("Four.")', 'says("Five.")'))
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*replies of the scripted model?1?.text*", '*- "Four."*', '*+ "Five."*'])
    pytester.makepyfile(source)
    monkeypatch.setenv("ANTIPHON_MODEL", "claude-haiku-5-5")
    run(pytester).stdout.fnmatch_lines(
        ["*model ids?0?*", '*- "claude-sonnet-5-5"*', '*+ "claude-haiku-5-5"*']
    )


@pytest.mark.parametrize("marker", ["", "@pytest.mark.recording()", '@pytest.mark.recording("notes.txt")'])
def test_a_marker_that_names_no_recording_is_a_mistake(pytester: pytest.Pytester, marker: str) -> None:
    pytester.makepyfile(f"import pytest\n{marker}\ndef test_one(recording): pass")
    result = run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*recording*.jsonl*"])


def test_a_test_that_leaves_the_machine_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import socket

        def test_leaves(pipeline):
            try:
                socket.create_connection(("example.invalid", 80), timeout=1)
            except ConnectionError:
                pass

        def test_stays(pipeline):
            with socket.create_server(("127.0.0.1", 0)) as server:
                socket.create_connection(server.getsockname()).close()

        def test_is_not_ours():
            try:
                socket.create_connection(("192.0.2.1", 9), timeout=0.001)
            except ConnectionError as error:
                assert "denied" not in str(error)
            except OSError:
                pass
        """
    )
    result = run(pytester)
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_leaves*", "*Network denied*example.invalid*"])


def test_a_scripted_model_a_pipeline_and_a_fault_in_async_and_in_plain_tests(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile(
        '''
        from antiphon import tool

        @tool(effect="read")
        def look_up(what: str) -> dict[str, str]:
            """Looks a thing up."""
            return {"found": f"The {what} is 27 metres high."}

        async def test_async(pipeline, scripted_model):
            scripted_model.calls("look_up", what="mast").says("It is 27 metres high [F1].")
            async with pipeline(tools=[look_up], model=scripted_model) as antiphon:
                response = await antiphon.ask("How high is it?")
            assert response.answer.startswith("It is 27 metres high [1].")
            assert scripted_model.left == 0

        def test_plain(pipeline, scripted_model, fault):
            scripted_model.says("Four.")
            with fault("answer.composed", "raise"):
                response = pipeline.ask("What is two and two?", model=scripted_model)
            assert response.answer == "Four."

        def test_too_much_is_asked(pipeline, scripted_model):
            scripted_model.calls("look_up", what="mast")
            response = pipeline.ask("How high?", tools=[look_up], model=scripted_model)
            assert response.status == "partial"
        '''
    )
    result = run(pytester)
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(
        ["*ERROR at teardown of test_too_much_is_asked*", "*more than it has replies*"]
    )


def test_the_examples_of_the_docs_run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shop is ours; the blocks are in docs/testing.md."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    pytester.syspathinsert()
    pytester.mkpydir("shop").joinpath("tools.py").write_text(
        "from antiphon import tool\n"
        '@tool(effect="read")\n'
        "def find_orders(customer: str) -> list[dict[str, str]]:\n"
        '    "Lists the open orders of a customer."\n'
        '    return [{"order": "O-17", "text": f"Order O-17 of {customer} is open."}]\n'
    )
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "testing.md").read_text(), re.DOTALL)
    pytester.makeini("[pytest]\nasyncio_mode = auto")
    pytester.makepyfile("\n".join(blocks))
    run(pytester, "--antiphon-record=once").assert_outcomes(passed=3)
    run(pytester).assert_outcomes(passed=3)


def test_a_pipeline_leaves_no_logging_behind_to_a_test_with_another_stderr(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import structlog

        def test_one(pipeline, capsys):
            assert pipeline.ask("Is anybody there?").status
            assert structlog.is_configured()

        def test_two():
            assert not structlog.is_configured()
        """
    )
    run(pytester).assert_outcomes(passed=2)


def test_a_suite_that_does_not_ask_for_it_sees_nothing_of_the_plugin(pytester: pytest.Pytester) -> None:
    write_lines(pytester.path / "some.jsonl", [])
    pytester.makepyfile("def test_one(): pass")
    run(pytester).assert_outcomes(passed=1)
