"""`antiphon replay verify --tools`: the recorded calls of reading tools, repeated."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from antiphon.cli.output import UsageError
from antiphon.recording.files import read_lines
from antiphon.replay.reports.outcome import Outcome

Check = Callable[[Path, Outcome], Outcome]


@contextmanager
def tools_checked(modules: str | None, volatile: Sequence[str], allows_network: bool) -> Iterator[Check]:
    """Yield a function that adds the results of today's tools to an outcome; without modules it changes nothing.

    Raises ConfigurationError where the tools cannot be loaded, UsageError for meaningless options.
    """
    if modules is None:
        if volatile or allows_network:
            raise UsageError("--volatile and --allow-network need --tools. Name the module of the tools.")
        yield lambda path, outcome: outcome
        return
    from antiphon.replay.tool_results.todays_tools import (  # the dispatcher is not needed otherwise
        TodaysTools,
        ToolOptions,
    )
    from antiphon.replay.tool_results.volatile import Volatile

    options = ToolOptions(modules, tuple(map(Volatile.of, volatile)), allows_network)
    with TodaysTools(options) as tools:

        def check(path: Path, outcome: Outcome) -> Outcome:
            if outcome.report is None:
                return outcome
            return replace(outcome, report=tools.check(list(read_lines(path)), outcome.report))

        yield check
