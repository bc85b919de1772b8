"""Mistakes, the guard of the network, and tests with a model and a pipeline, in runs of pytest of their own."""

import re

import pytest

from antiphon.recording.files import write_lines
from tests.antiphon.replay.plugin.runs import run
from tests.flows.processes import ROOT

pytest_plugins = "pytester"


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


def test_a_pipeline_leaves_no_logging_configuration_to_the_next_test(pytester: pytest.Pytester) -> None:
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


def test_a_suite_that_does_not_use_the_plugin_is_unaffected(pytester: pytest.Pytester) -> None:
    write_lines(pytester.path / "some.jsonl", [])
    pytester.makepyfile("def test_one(): pass")
    run(pytester).assert_outcomes(passed=1)
