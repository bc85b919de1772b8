"""A rerun in words."""

from antiphon.replay.differences import Difference
from antiphon.replay.reports.rerun import reported
from antiphon.replay.rerun_report import RerunReport
from antiphon.replay.serving.exchanges import Miss


def test_what_a_tool_or_a_model_has_said_moves_no_cursor() -> None:
    miss = Miss("s", "model", "asked\x1b[2J", "-recorded\n+today\x1b[31m")
    report = RerunReport(
        "one.jsonl", "s", "different", (Difference("answer", "a\x1b[1m", "b"),), misses=(miss,)
    )
    assert reported(report) == [
        "one.jsonl: another response",
        "  response: answer: recorded a\\x1b[1m; today b",
        "  not recorded: asked\\x1b[2J",
        "    -recorded",
        "    +today\\x1b[31m",
    ]


def test_of_many_differences_the_first_are_told() -> None:
    report = RerunReport("one.jsonl", "s", "different", tuple(Difference(f"x[{n}]", 1, 2) for n in range(12)))
    assert len(reported(report)) == 12
    assert reported(report)[-1] == "  response: and 2 more"
