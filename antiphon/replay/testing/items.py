"""The tests that pytest collects from a file with a recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from antiphon.replay.tool_results.todays_tools import TodaysTools

_TOOLS = pytest.StashKey["TodaysTools"]()


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


def _todays_tools(config: pytest.Config) -> TodaysTools:
    """Return the tools, loaded once for all recordings."""
    from antiphon.replay.tool_results.todays_tools import TodaysTools

    if _TOOLS not in config.stash:
        chosen = config.option
        tools = TodaysTools(chosen.antiphon_tools, chosen.antiphon_volatile, chosen.antiphon_allow_network)
        config.stash[_TOOLS] = tools
        config.add_cleanup(tools.close)
    return config.stash[_TOOLS]
