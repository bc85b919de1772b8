"""`replay verify --tools`, and the same as a test of pytest's."""

from pathlib import Path

import orjson
import pytest

from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line
from tests.antiphon.conftest import InProcess
from tests.antiphon.replay.tool_results import shop
from tests.antiphon.replay.tool_results.conftest import SHOP

pytest_plugins = "pytester"


def test_a_result_that_differs_makes_the_recording_diverge(run: InProcess, shop_path: Path) -> None:
    shop.changes.add("price")
    done = run("replay", "verify", str(shop_path), "--tools", SHOP)
    assert done.exit_code == 1
    assert "diverged at event" in done.stdout
    assert "tool_dispatcher, result of find_order" in done.stdout
    assert "total" in done.stdout
    assert "    - 12.5\n    + 12.9\n" in done.stdout
    assert "not run: tools: send_parcel: a write (1)" in done.stdout


def test_results_that_cannot_be_compared_exit_with_4_unless_that_is_allowed(
    run: InProcess, shop_path: Path
) -> None:
    asked = ("replay", "verify", str(shop_path), "--tools", SHOP)
    done = run(*asked)
    assert done.exit_code == 4
    assert (
        "not checked: tools: login_of: its result was redacted (1), tools: read_log: its result was cut (1)"
        in (done.stdout)
    )
    assert run(*asked, "--allow-unchecked", "the shop's logs are long").exit_code == 0


def test_json_counts_calls_checked_unchecked_and_not_run(run: InProcess, shop_path: Path) -> None:
    done = run("replay", "verify", str(shop_path), "--tools", SHOP, "--json")
    (found,) = orjson.loads(done.stdout)["recordings"]
    assert found["steps"]["tools"] == 6
    assert found["unchecked"]["tools: read_log: its result was cut"] == 1
    assert found["not_run"] == {"tools: send_parcel: a write": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--volatile", "$.total"), "Name the module of the tools"),
        (("--allow-network",), "Name the module of the tools"),
        (("--tools", "no.such.module"), "no.such.module"),
        (("--tools", SHOP, "--volatile", "total"), "Use PATH"),
        (("--tools", SHOP, "--against", "HEAD"), "--against cannot be combined with --tools"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    run: InProcess, shop_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run("replay", "verify", str(shop_path), *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_under_pytest_the_calls_of_each_recording_are_one_test(
    pytester: pytest.Pytester, shop_lines: list[Line]
) -> None:
    write_lines(pytester.mkdir("recordings") / "shop.jsonl", shop_lines)
    options = ("--antiphon-recordings", "recordings", "--antiphon-tools", SHOP, "-v")
    plugins = ("-p", "antiphon.replay.pytest_plugin", "-p", "no:langsmith_plugin")
    ours = (*plugins, "-o", "asyncio_default_fixture_loop_scope=function")
    shop.changes |= {"price", "time"}
    result = pytester.runpytest_inprocess(*ours, *options, "--antiphon-volatile", "$.read_at")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*shop.jsonl::verify PASSED*",
            "*shop.jsonl::tools FAILED*",
            "*- 12.5*",
            "*+ 12.9*",
            "*`antiphon replay update` keeps*",
        ]
    )
    shop.changes.clear()
    result = pytester.runpytest_inprocess(*ours, *options)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*its result was cut*", "*Unchecked steps do not count*", "*tools 6*not checked: tools 2*"]
    )
    result = pytester.runpytest_inprocess(*ours, *options, "--antiphon-allow-unchecked", "the logs are long")
    result.assert_outcomes(passed=2)
