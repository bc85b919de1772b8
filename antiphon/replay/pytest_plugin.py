"""The pytest plugin: recordings as tests, and fixtures for tests of a user's own tools.

It is opt-in:

    pytest -p antiphon.replay.pytest_plugin --antiphon-recordings tests/recordings

See docs/testing.md. Large modules are imported when a test needs them, and not while pytest collects.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from antiphon.replay.testing.pipelines import Pipelines
    from antiphon.replay.testing.recorded_question import Recorded
    from antiphon.replay.testing.scripted import ScriptedModel
    from antiphon.replay.tool_results.todays_tools import TodaysTools

MODES = ("none", "once", "rewrite")
_ENDINGS = (".jsonl", ".jsonl.gz")
_MARKER = "recording"
_PROPERTY = "antiphon."
"""The prefix of test properties that count recorded steps; see testing/judged.py."""
_TOOLS = pytest.StashKey["TodaysTools"]()
_HOW_TO_RECORD = (
    "Name a folder with recordings, or create them: run the tests with the marker `recording` with "
    "--antiphon-record=once."
)
_RECORDED, _HAS_PASSED = pytest.StashKey["Recorded"](), pytest.StashKey[bool]()
_OURS = Path(__file__).parent / "testing"


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
        f"{_MARKER}(name, allow_unchecked=''): the file of the recording for the fixture `recording`.",
    )
    folder = _folder(config)
    if folder is None:
        return
    if (lack := _lack(folder)) and _mode(config) == "none" and _is_named(config):
        raise pytest.UsageError(f"--antiphon-recordings: {folder} {lack}. {_HOW_TO_RECORD}")
    if folder.is_dir() and _is_wanted(config) and not _is_within(folder, config):
        config.args.append(str(folder))


def pytest_report_header(config: pytest.Config) -> str | None:
    folder = _folder(config)
    if folder is not None and (lack := _lack(folder)):
        return f"antiphon: no recordings: {folder} {lack}. {_HOW_TO_RECORD}"
    return f"antiphon: recordings in {folder}, record={_mode(config)}" if folder else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Cut the traceback of a failed assertion at the test's own line, without this plugin's frames."""
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
    folder = _folder(parent.config)
    if folder is None or not file_path.name.endswith(_ENDINGS) or folder not in file_path.parents:
        return None
    return RecordingFile.from_parent(parent, path=file_path)


class RecordingFile(pytest.File):
    """A recording of the folder."""

    def collect(self) -> Iterator[pytest.Item]:
        yield RecordingItem.from_parent(self, name="verify")
        if self.config.option.antiphon_tools:
            yield ToolsItem.from_parent(self, name="tools")


class RecordingItem(pytest.Item):
    """The test that runs `replay verify` on one recording."""

    def runtest(self) -> None:
        from antiphon.replay.testing.judged import judge

        judge(self.path, self.config.option.antiphon_allow_unchecked, self.user_properties)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, AssertionError | OSError) or hasattr(excinfo.value, "hint"):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.name} {self.path.name}"


class ToolsItem(RecordingItem):
    """The test that runs `replay verify --tools`: the recorded calls with today's tools."""

    def runtest(self) -> None:
        from antiphon.replay.testing.judged import judge_tools

        allowed = self.config.option.antiphon_allow_unchecked
        judge_tools(self.path, _todays_tools(self.config), allowed, self.user_properties)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the numbers of recorded steps that were checked and unchecked, by component."""
    found: dict[str, Counter[str]] = {"checked": Counter(), "unchecked": Counter()}
    allowed: dict[str, None] = {}
    reports = [report for of_kind in terminalreporter.stats.values() for report in of_kind]
    for report in reports:
        properties = getattr(report, "user_properties", ()) if getattr(report, "when", "") == "call" else ()
        for name, value in properties:
            kind, _, component = str(name).removeprefix(_PROPERTY).partition(".")
            if str(name).startswith(_PROPERTY) and kind in found:
                found[kind][component] += int(value)
            elif name == f"{_PROPERTY}allowed.unchecked":
                allowed[str(value)] = None
    if not any(found.values()):
        return
    from antiphon.replay.reports.text import counts

    checked, unchecked = counts(found["checked"]), counts(found["unchecked"])
    terminalreporter.section("antiphon")
    terminalreporter.line(f"recorded steps checked: {checked}; not checked: {unchecked}")
    for reason in allowed:
        terminalreporter.line(f"unchecked steps are allowed: {reason}")


@pytest.fixture
def recording(request: pytest.FixtureRequest, _antiphon_alone: None) -> Recorded:
    """Return the recording that the marker names: its query, its response; and `ask`, which records."""
    from antiphon.replay.testing.recorded_question import Recorded

    path = _path(request)
    if path is None:
        pytest.fail(
            'The fixture `recording` needs a marker: @pytest.mark.recording("name.jsonl").', pytrace=False
        )
    if not path.name.endswith(_ENDINGS):
        pytest.fail(
            f"The name of a recording must end in .jsonl or .jsonl.gz, not {path.name!r}.", pytrace=False
        )
    recorded = Recorded(path, _mode(request.config), _allowed(request), request.node.user_properties)
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
    """Yield a model with the test's own replies; the test fails when more are requested."""
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
    """Reset logging that a pipeline has set up on this test's stderr: the next test has another."""
    import structlog

    is_ours = not structlog.is_configured()
    yield
    if is_ours:
        structlog.reset_defaults()


@pytest.fixture
def _antiphon_alone(request: pytest.FixtureRequest, _antiphon_logs: None) -> Iterator[None]:
    """Deny the network beyond this machine, unless the test is to record."""
    mode, path = _mode(request.config), _path(request)
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


def _todays_tools(config: pytest.Config) -> TodaysTools:
    """Return the tools, loaded once for all recordings."""
    from antiphon.replay.tool_results.todays_tools import TodaysTools, ToolOptions
    from antiphon.replay.tool_results.volatile import Volatile

    if _TOOLS not in config.stash:
        chosen = config.option
        volatile = tuple(map(Volatile.of, chosen.antiphon_volatile))
        tools = TodaysTools(ToolOptions(chosen.antiphon_tools, volatile, chosen.antiphon_allow_network))
        config.stash[_TOOLS] = tools
        config.add_cleanup(tools.close)
    return config.stash[_TOOLS]


def _path(request: pytest.FixtureRequest) -> Path | None:
    """Return the path of the recording that the marker names: next to the test, or in the folder."""
    marker = request.node.get_closest_marker(_MARKER)
    if marker is None or len(marker.args) != 1:
        return None
    beside, folder = request.path.parent / str(marker.args[0]), _folder(request.config)
    return beside if folder is None or beside.exists() else folder / str(marker.args[0])


def _allowed(request: pytest.FixtureRequest) -> str:
    """Return the reason why steps of the test's recording may go unchecked; empty where they may not."""
    marker = request.node.get_closest_marker(_MARKER)
    own = marker.kwargs.get("allow_unchecked") if marker is not None else None
    return str(own or request.config.option.antiphon_allow_unchecked)


def _mode(config: pytest.Config) -> str:
    return str(config.option.antiphon_record)


def _folder(config: pytest.Config) -> Path | None:
    """Return the given folder, relative to where pytest was started, or to its root, as in its ini file."""
    given: str | None = config.option.antiphon_recordings
    if given is None:
        return None
    places = [place / given for place in (config.invocation_params.dir, config.rootpath)]
    return next((place for place in places if place.is_dir()), places[0]).resolve()


def _lack(folder: Path) -> str:
    """Return the reason why the folder has nothing to verify; empty where it has recordings."""
    if not folder.is_dir():
        return "is not a folder"
    names = (name for *_, inside in os.walk(folder) for name in inside)
    return "" if any(name.endswith(_ENDINGS) for name in names) else "contains no recordings"


def _is_wanted(config: pytest.Config) -> bool:
    """Return whether recordings are collected in addition to the requested tests.

    With the folder in an ini file, a user who names tests wants those tests alone. The workers of
    pytest-xdist receive their tests.
    """
    if hasattr(config, "workerinput"):
        return False
    return _is_named(config) or config.args_source is not pytest.Config.ArgsSource.ARGS


def _is_named(config: pytest.Config) -> bool:
    """Return whether the folder was given on the command line, and not in an ini file."""
    return any(str(one).startswith("--antiphon-recordings") for one in config.invocation_params.args)


def _cut(error: BaseException) -> None:
    """Cut the frames of this plugin's fixtures from the end of a traceback."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        if _OURS in Path(frame.tb_next.tb_frame.f_code.co_filename).parents:
            frame.tb_next = None
        frame = frame.tb_next


def _is_within(folder: Path, config: pytest.Config) -> bool:
    """Return whether the folder is collected anyway."""
    named = ((config.invocation_params.dir / one.partition("::")[0]).resolve() for one in config.args)
    return any(folder == one or one in folder.parents for one in named)
