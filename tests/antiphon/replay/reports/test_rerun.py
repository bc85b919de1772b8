"""A rerun in words."""

from antiphon.replay.differences import Difference
from antiphon.replay.reports.rerun import reported
from antiphon.replay.rerun_report import RerunReport
from antiphon.replay.serving.exchanges import Miss


def test_control_characters_from_a_tool_or_a_model_are_escaped() -> None:
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


def test_only_the_first_of_many_differences_are_listed() -> None:
    report = RerunReport("one.jsonl", "s", "different", tuple(Difference(f"x[{n}]", 1, 2) for n in range(12)))
    assert len(reported(report)) == 12
    assert reported(report)[-1] == "  response: and 2 more"
