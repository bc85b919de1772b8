"""Options as authors write them: short forms, and values that are refused instead of guessed at."""

from enum import Enum
from typing import Any

import pytest
from antiphon_shared.tools.contract import Alternative, Dependency, RateLimit, Retry

from tests.rows import each_row
from tool_dispatcher.authoring.contract import complete
from tool_dispatcher.authoring.failures import InvalidTool


class Often(Enum):
    THRICE = 3


SHORT: list[tuple[str, Any, Any]] = [
    ("retry", 5, Retry(attempts=5)),
    ("retry", {"attempts": 5}, Retry(attempts=5)),
    ("depends_on", "search", (Dependency(tool="search"),)),
    ("depends_on", ["search", Dependency(tool="look")], (Dependency(tool="search"), Dependency(tool="look"))),
    (
        "depends_on",
        {"tool": "search", "required_fields": ["id"]},
        (Dependency(tool="search", required_fields=("id",)),),
    ),
    ("alternatives", ["other"], (Alternative(tool="other"),)),
    (
        "alternatives",
        Alternative(tool="other", arguments={"q": "text"}),
        (Alternative(tool="other", arguments={"q": "text"}),),
    ),
    ("next", "rerank", ("rerank",)),
    ("scopes", ("crm:read", "crm/all"), ("crm:read", "crm/all")),
    ("rounds", 1, (1,)),
    ("rounds", (1, 2), (1, 2)),
    ("rate_limit", {"calls": 3, "per_s": 60}, RateLimit(calls=3, per_s=60)),
    ("rate_limit", None, None),
    ("timeout_s", 5, 5.0),
]


@each_row(("option", "written", "meant"), SHORT)
def test_short_forms_of_options_are_expanded(option: str, written: Any, meant: Any) -> None:
    assert getattr(complete("t", "read", {option: written}), option) == meant


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"timout_s": 5}, "option 'timout_s' does not exist.*Did you mean timeout_s"),
    ({"reconciles": True}, "option 'reconciles' does not exist.*Did you mean reconcile"),
    ({"zzz": 1}, "option 'zzz' does not exist.*The options are: effect.*mode, max_concurrency"),
    ({"timeout_s": "3"}, "timeout_s is '3'.*seconds above 0, 3600 at most"),
    ({"timeout_s": None}, "timeout_s is None.*seconds above 0"),
    ({"timeout_s": 10**400}, "timeout_s is 1000.*seconds above 0"),
    ({"timeout_s": b"3"}, "timeout_s is b'3'"),
    ({"max_concurrency": 2.0}, "max_concurrency is 2.0.*whole number from 1 to 10000"),
    ({"max_concurrency": True}, "max_concurrency is True.*whole number"),
    ({"retry": True}, r"retry is True.*number of attempts, or Retry\(attempts=...\)"),
    ({"retry": 11}, "retry.attempts is 11.*from 1 to 10"),
    ({"retry": Often.THRICE}, "retry is .*THRICE"),
    ({"retry": {"attempt": 1}}, r"retry has a field 'attempt'.*Retry\(attempts=...\)"),
    ({"batch": {"tool": "notes"}}, r"batch has no 'argument'.*BatchVariant\(tool=..., argument=..., "),
    ({"batch": "notes"}, r"batch is 'notes'.*BatchVariant\("),
    ({"depends_on": 5}, r"depends_on\[0\] is 5.*name of a tool, or Dependency\("),
    ({"depends_on": None}, "depends_on is None.*a list, each the name of a tool, or"),
    ({"depends_on": {"a", "b"}}, "depends_on is .*a list"),
    ({"depends_on": "a b"}, r"depends_on\[0\].tool is 'a b'.*matches"),
    ({"alternatives": {"tool": "a", "arguments": ["q"]}}, r"alternatives\[0\].arguments is .*dict of names"),
    ({"alternatives": {"tool": "a", "arguments": {"q": 1}}}, r"arguments.q is 1.*text"),
    ({"mode": "parallel"}, 'mode is \'parallel\'.*one of "parallel-safe", "sequential-only"'),
    ({"error_propagation": "stop"}, 'one of "fail-fast", "partial-success"'),
    ({"rounds": True}, r"rounds\[0\] is True.*from 1 to 100"),
    ({"rounds": [0]}, r"rounds\[0\] is 0.*from 1 to 100"),
    ({"scopes": "a b"}, r"scopes\[0\] is 'a b'.*matches"),
    ({"backoff": {"initial_ms": 0}}, "backoff.initial_ms is 0.*milliseconds from 1 to 60000"),
    ({"result_bytes_max": 1}, "result_bytes_max is 1.*from 1000 to 10000000"),
    ({"pinned": 1}, "pinned is 1.*True or False"),
    ({"version": 2}, "version is 2.*Give text"),
    ({"version": "\ud800"}, "version is .*Give text"),
]


@each_row(("options", "why"), WRONG)
def test_an_invalid_value_is_refused_with_the_expected_form(options: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidTool, match=f"^Tool 't': .*{why}"):
        complete("t", "read", options)


def test_a_recursive_value_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(InvalidTool, match=r"scopes is \[\[\.\.\.\]\]"):
        complete("t", "read", {"scopes": circle})
