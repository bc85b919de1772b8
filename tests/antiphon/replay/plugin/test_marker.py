"""Tests that are answered from a recording, in runs of pytest of their own."""

from pathlib import Path

import pytest

from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line
from antiphon.replay.verify import verify
from tests.antiphon.replay.plugin.runs import ASKS, hurried, run

pytest_plugins = "pytester"


@pytest.mark.usefixtures("folder")
def test_a_test_with_the_marker_is_answered_from_its_recording(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ASKS)
    run(pytester, "--antiphon-recordings", "recordings", "-k", "test_courses").assert_outcomes(
        passed=1, deselected=1
    )


def test_a_recording_may_be_in_the_folder_of_its_test(
    pytester: pytest.Pytester, courses_lines: list[Line]
) -> None:
    write_lines(pytester.path / "courses.jsonl", courses_lines)
    pytester.makepyfile(ASKS)
    run(pytester).assert_outcomes(passed=1)


def test_a_missing_recording_fails_and_states_how_to_record(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ASKS)
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Recording *courses.jsonl does not exist*--antiphon-record=once*"])


def test_record_once_records_a_missing_recording_and_no_existing_one(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ASKS)
    options = ("--antiphon-recordings", "made", "--antiphon-record")
    run(pytester, *options, "once").assert_outcomes(passed=1)
    made = pytester.path / "made" / "courses.jsonl"
    written = made.read_bytes()
    assert verify(made).is_same
    run(pytester, *options, "once").assert_outcomes(passed=2)
    run(pytester, *options, "none").assert_outcomes(passed=2)
    assert made.read_bytes() == written
    assert [path.name for path in made.parent.iterdir()] == ["courses.jsonl"]


_FAILS = ASKS + "        assert recording.path.exists() and 'O-17' in response.answer\n"


def test_a_recording_of_a_failed_test_is_discarded(pytester: pytest.Pytester) -> None:
    options = ("--antiphon-recordings", "made", "--antiphon-record=once")
    pytester.makepyfile(_FAILS)
    run(pytester, *options).assert_outcomes(failed=1)
    assert list((pytester.path / "made").iterdir()) == []
    run(pytester, *options).assert_outcomes(failed=1)  # and it is asked again, not answered from what failed


def test_a_failed_test_keeps_the_existing_recording(pytester: pytest.Pytester, folder: Path) -> None:
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
def test_a_failed_test_shows_only_its_own_line_and_the_difference(
    pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]
) -> None:
    write_lines(folder / "courses.jsonl", hurried(courses_lines))
    pytester.makepyfile(ASKS)
    options = ("--antiphon-recordings", "recordings", "-k", "test_courses")
    result = run(pytester, *options)
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["*> *recording.ask(*", "E *diverged at event*", 'E *- "Hurry."*'])
    result.stdout.no_fnmatch_line("*judged.py*")
    result.stdout.no_fnmatch_line("*recorded.py*")
    run(pytester, *options, "--full-trace").stdout.fnmatch_lines(["*judged.py*"])


def test_rewrite_records_again(pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]) -> None:
    write_lines(folder / "courses.jsonl", hurried(courses_lines))
    pytester.makepyfile(ASKS)
    options = ("--antiphon-recordings", "recordings", "--antiphon-record=rewrite", "-k", "test_courses")
    run(pytester, *options).assert_outcomes(passed=1, deselected=1)
    assert verify(folder / "courses.jsonl").is_same


_ADD = 'from antiphon import tool\n@tool(effect="read")\ndef add(a: int) -> int:\n    "Adds."\n    return a\n'


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("then", "now", "messages"),
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
def test_a_recording_of_another_question_is_not_an_answer(
    pytester: pytest.Pytester, then: str, now: str, messages: list[str]
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
    asks = ASKS.replace("\n    ", "\n").replace("(recording)", "(recording, scripted_model)")
    assert then in asks
    pytester.makepyfile(_ADD + altered + asks.replace(then, now))
    result = run(pytester, "--antiphon-recordings", "recordings", "-k", "test_courses")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        ["*differs from the recorded question in *courses.jsonl:*", *(f"*{line}*" for line in messages)]
    )


def test_a_changed_script_is_a_different_question(
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
