"""The pytest plugin: recordings as tests, and fixtures for tests of a user's tools.

It is opt-in:

    pytest -p antiphon.replay.pytest_plugin --antiphon-recordings tests/recordings

See docs/testing.md. Large modules are imported when a test needs them, not while pytest collects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from antiphon.recording.recording_paths import ENDINGS
from antiphon.replay.testing.choices import (
    MARKER,
    allowed_in,
    folder_of,
    is_named,
    is_wanted,
    is_within,
    mode_of,
    path_of,
    problem_of,
)

if TYPE_CHECKING:
    from antiphon.replay.testing.pipelines import Pipelines
    from antiphon.replay.testing.recorded_question import Recorded
    from antiphon.replay.testing.scripted import ScriptedModel

MODES = ("none", "once", "rewrite")
_PROPERTY = "antiphon."
"""The prefix of test properties that count recorded steps; see testing/judged.py."""
_HOW_TO_RECORD = (
    "Name a folder with recordings, or create them: run the tests with the marker `recording` with "
    "--antiphon-record=once."
)
_RECORDED, _HAS_PASSED = pytest.StashKey["Recorded"](), pytest.StashKey[bool]()
_PLUGIN_PARTS = Path(__file__).parent / "testing"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("antiphon", "recorded sessions of Antiphon")
    group.addoption(
        "--antiphon-recordings",
        metavar="DIR",
        default=None,
        help="A folder of recordings; each becomes a test that verifies it with the current code.",
    )
    group.addoption(
        "--antiphon-record",
        choices=MODES,
        default="none",
        help="Live questions of tests with the marker `recording`: never, and without network "
        "(none); only if the recording is missing (once); or always (rewrite).",
    )
    group.addoption(
        "--antiphon-allow-unchecked",
        metavar="REASON",
        default="",
        help="Accept recordings with unchecked steps; the summary shows this reason.",
    )
    group.addoption(
        "--antiphon-tools",
        metavar="MODULE",
        default="",
        help="Repeat the recorded calls of read tools with the tools of this module, as a separate test.",
    )
    group.addoption(
        "--antiphon-volatile",
        metavar="FIELD",
        action="append",
        default=[],
        help="With --antiphon-tools: a field of results that may differ, as [TOOL:]PATH[=MATCHER]; "
        "repeatable.",
    )
    group.addoption(
        "--antiphon-allow-network",
        action="store_true",
        help="With --antiphon-tools: allow these tools to use the network.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARKER}(name, allow_unchecked=''): the file of the recording for the fixture `recording`.",
    )
    folder = folder_of(config)
    if folder is None:
        return
    if (lacking := problem_of(folder)) and mode_of(config) == "none" and is_named(config):
        raise pytest.UsageError(f"--antiphon-recordings: {folder} {lacking}. {_HOW_TO_RECORD}")
    if folder.is_dir() and is_wanted(config) and not is_within(folder, config):
        config.args.append(str(folder))


def pytest_report_header(config: pytest.Config) -> str | None:
    folder = folder_of(config)
    if folder is not None and (lacking := problem_of(folder)):
        return f"antiphon: no recordings: {folder} {lacking}. {_HOW_TO_RECORD}"
    return f"antiphon: recordings in {folder}, record={mode_of(config)}" if folder else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Remove this plugin's frames from the end of a failed assertion's traceback."""
    try:
        yield
    except AssertionError as error:
        item.stash[_HAS_PASSED] = False
        if not item.config.option.fulltrace:
            _cut(error)
        raise
    except BaseException:
        item.stash[_HAS_PASSED] = False
        raise
    item.stash[_HAS_PASSED] = True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Keep a test's new recording if the test and its fixtures have passed."""
    has_passed = item.stash.get(_HAS_PASSED, False)
    try:
        yield
    except BaseException:
        has_passed = False
        raise
    finally:
        recorded = item.stash.get(_RECORDED, None)
        if recorded is not None:
            recorded.settle(is_kept=has_passed)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    folder = folder_of(parent.config)
    if folder is None or not file_path.name.endswith(ENDINGS) or folder not in file_path.parents:
        return None
    from antiphon.replay.testing.items import RecordingFile

    return RecordingFile.from_parent(parent, path=file_path)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the numbers of recorded steps that were checked and unchecked, by component."""
    counted: dict[str, Counter[str]] = {"checked": Counter(), "unchecked": Counter()}
    allowed: dict[str, None] = {}
    reports = [report for of_kind in terminalreporter.stats.values() for report in of_kind]
    for report in reports:
        properties = getattr(report, "user_properties", ()) if getattr(report, "when", "") == "call" else ()
        for name, value in properties:
            kind, _, component = str(name).removeprefix(_PROPERTY).partition(".")
            if str(name).startswith(_PROPERTY) and kind in counted:
                counted[kind][component] += int(value)
            elif name == f"{_PROPERTY}allowed.unchecked":
                allowed[str(value)] = None
    if not any(counted.values()):
        return
    from antiphon.replay.reports.text import counts

    checked, unchecked = counts(counted["checked"]), counts(counted["unchecked"])
    terminalreporter.section("antiphon")
    terminalreporter.line(f"recorded steps checked: {checked}; not checked: {unchecked}")
    for reason in allowed:
        terminalreporter.line(f"unchecked steps are allowed: {reason}")


@pytest.fixture
def recording(request: pytest.FixtureRequest, _antiphon_alone: None) -> Recorded:
    """Return the recording that the marker names, with its query, its response, and `ask`, which records."""
    from antiphon.replay.testing.recorded_question import Recorded

    path = path_of(request)
    if path is None:
        pytest.fail(
            'The fixture `recording` needs a marker: @pytest.mark.recording("name.jsonl").', pytrace=False
        )
    if not path.name.endswith(ENDINGS):
        pytest.fail(
            f"The name of a recording must end in .jsonl or .jsonl.gz, not {path.name!r}.", pytrace=False
        )
    recorded = Recorded(path, mode_of(request.config), allowed_in(request), request.node.user_properties)
    request.node.stash[_RECORDED] = recorded
    return recorded


@pytest.fixture
def pipeline(_antiphon_alone: None) -> Pipelines:
    """Return a maker of pipelines.

    Use it as `async with pipeline(tools=[...]) as antiphon`, or as `pipeline.ask(...)`.
    """
    from antiphon.replay.testing.pipelines import Pipelines

    return Pipelines()


@pytest.fixture
def scripted_model(_antiphon_alone: None) -> Iterator[ScriptedModel]:
    """Yield a model with scripted replies; the test fails if more replies are requested."""
    from antiphon.replay.testing.scripted import ScriptedModel

    model = ScriptedModel()
    yield model
    if model.unexpected:
        pytest.fail("\n".join(model.unexpected), pytrace=False)


@pytest.fixture
def fault() -> Callable[..., AbstractContextManager[None]]:
    """Return a function that injects a fault into pipelines started inside its block.

    Use it as `with fault("model.before", "raise"): ...`.
    """
    from antiphon.replay.testing.strike import strike

    return strike


@pytest.fixture
def _antiphon_logs() -> Iterator[None]:
    """Reset logging that a pipeline has configured for this test's stderr, which the next test does not have."""
    import structlog

    is_unconfigured = not structlog.is_configured()
    yield
    if is_unconfigured:
        structlog.reset_defaults()


@pytest.fixture
def _antiphon_alone(request: pytest.FixtureRequest, _antiphon_logs: None) -> Iterator[None]:
    """Deny the network beyond this machine, unless the test records."""
    mode, path = mode_of(request.config), path_of(request)
    if path is not None and (mode == "rewrite" or (mode == "once" and not path.exists())):
        yield
        return
    from antiphon.replay.testing.network import denied

    with denied() as attempts:
        yield
    if attempts:
        pytest.fail(
            f"Network denied: the test tried to connect to {', '.join(dict.fromkeys(attempts))}. Use "
            "local tools and models, or record their replies: see --antiphon-record.",
            pytrace=False,
        )


def _cut(error: BaseException) -> None:
    """Cut the frames of this plugin's fixtures from the end of a traceback."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        if _PLUGIN_PARTS in Path(frame.tb_next.tb_frame.f_code.co_filename).parents:
            frame.tb_next = None
        frame = frame.tb_next
