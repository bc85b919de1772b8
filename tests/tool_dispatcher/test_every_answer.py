"""Every answer that a model gets in place of a tool's result, word by word: every_answer.json.

After an intended change, run `python -m tests.tool_dispatcher.test_every_answer`, and review the output.
"""

from pathlib import Path
from typing import Any

from antiphon_shared.breakers.breaker import RefusedCall
from antiphon_shared.events import ApprovalDecided, ToolsRequested
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.contract import Alternative, BatchVariant, Contract, Dependency

from tests.envelopes import START
from tests.kept_forms import Reader, differences, write
from tests.rows import each_row
from tests.sampled import readers_of_samples
from tool_dispatcher.access import permission
from tool_dispatcher.access.grants import Authorization
from tool_dispatcher.access.permission import ApprovalRule, Terms
from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.batch import answers as of_batches
from tool_dispatcher.batch import collapse
from tool_dispatcher.idempotency import answers as of_writes
from tool_dispatcher.idempotency.write import DeniedClaim, Write
from tool_dispatcher.results import as_json
from tool_dispatcher.running import breakers, call, retrying, runner, substitution

KEPT = Path(__file__).with_name("every_answer.json")
_ERRORS = tuple(
    tool_error(kind, "It says so.", action, retry_after_s=wait_s)  # type: ignore[arg-type]  # a table of words
    for kind, action, wait_s in (
        ("api_failure", None, 7.0),
        ("validation_error", "Ask for less.", None),
        ("outcome_unknown", None, None),
        ("rate_limit", None, 400.0),
        ("timeout", None, None),
        ("permission_denied", None, None),
    )
)
_CALLS = tuple(
    RequestedCall(id=f"c{n}", name=name, arguments={"a": n}) for n, name in enumerate(("find", "pay", "find"))
)
_RESULTS = (
    ToolResult(index=0, call_id="c0", tool="find", status="ok", data={"n": 1}),
    ToolResult(index=1, call_id="c1", tool="pay", status="error", error=_ERRORS[0]),
    ToolResult(index=1, call_id="c1", tool="pay", status="error", error=_ERRORS[2]),
)
_READ = Contract(effect="read", mode="parallel-safe", error_propagation="partial-success")
_WRITE = Contract(effect="write", mode="sequential-only", error_propagation="fail-fast", idempotent=True)
_TERMS = tuple(
    Terms(
        ToolsRequested(round=2, calls=_CALLS, allowed=allowed, deadline=START, has_untrusted=is_untrusted),
        status,
        ApprovalRule(frozenset(always), after_untrusted=True),
        is_flowing,
    )
    for allowed, status, always, is_untrusted, is_flowing in (
        (("find", "pay"), Authorization(frozenset(("read", "write"))), ("find",), False, False),
        (("find",), Authorization(frozenset(("read",))), (), True, False),
        (("find",), Authorization(frozenset(), "Its grant is over."), (), False, True),
        ((), Authorization(), (), False, False),
        (("find",), Authorization(frozenset(("write",))), ("find", "x" * 600), False, False),
    )
)
_VALUES: tuple[Any, ...] = (
    [1, 2, 3],
    {"results": [{"index": 2}, {"index": 0}, {"index": 1}]},
    {"results": [1]},
    "text",
    7,
    None,
    {"status": "error", "error": "NOT_FOUND"},
    {"status": "ok", "data": 5},
    {"error": {"code": 404, "message": "Gone."}},
    {"status": "error", "message": "Broken.", "retry_after_s": 3},
    {"error": {"retry_after_s": -1, "fields": {"a": "b"}}},
)
_SAMPLES: dict[Any, tuple[Any, ...]] = {
    "str": ("find", "x" * 600),
    "int": (1, 3),
    "float": (0.5, 90.0),
    "bool": (False, True),
    "bytes": (b"{}",),
    "Write": (Write("s1", "k", "pay", "f", 2, ("c1", "c2"), 60.0),),
    "DeniedClaim": tuple(
        DeniedClaim("repeated", "k", 1, state, "1/c0", at_ms, outcome, "1/0/k2")
        for state, at_ms, outcome in (
            ("done", 1_790_000_000_000, _RESULTS[0]),
            ("unknown", 0, _RESULTS[2]),
            ("none", 5, None),
        )
    ),
    "ToolError": _ERRORS,
    "ToolError | None": (None, _ERRORS[0]),
    "list[ToolError]": ([_ERRORS[0]], [_ERRORS[1], _ERRORS[2], _ERRORS[0]], list(_ERRORS)),
    "RequestedCall": _CALLS[:2],
    "Sequence[RequestedCall]": (_CALLS,),
    "ToolResult": _RESULTS,
    "ToolResult | None": (None, *_RESULTS),
    "Contract": (_READ, _WRITE),
    "Dependency": (Dependency(tool="find"), Dependency(tool="find", required_fields=("id", "name"))),
    "Alternative": (Alternative(tool="other"), Alternative(tool="other", arguments={"place": "a"})),
    "BatchVariant": (BatchVariant(tool="find_all", argument="places"),),
    "Sequence[str]": ((), ("a",), ("a", "b", "c")),
    "tuple[str, ...]": ((), ("a", "b")),
    "tuple[int, ...]": ((1,), (1, 2)),
    "Sequence[int]": ((0, 1, 0), (1, 1)),
    "Mapping[str, str]": ({"a": "is wrong"}, {"a": "is wrong", "b[0]": "is too"}),
    "Literal['read', 'write']": ("read", "write"),
    "dict[str, Any] | None": (None, {"a": 1}),
    "DeniedClaim | None": (None, DeniedClaim("repeated", "k", 1, "done", "1/c0", 1_790_000_000_000)),
    "tuple[ToolResult, ...]": (_RESULTS[:1], _RESULTS),
    "Sequence[ToolResult]": (_RESULTS,),
    "Sequence[dict[str, Any]]": ([{"a": 1}, {"a": 2}],),
    "Terms": _TERMS,
    "RefusedCall": (
        RefusedCall(12.5),
        RefusedCall(0.2),
    ),
    "ApprovalDecided | None": (
        None,
        ApprovalDecided(round=1, is_approved=False, by="ann", reason="No."),
        ApprovalDecided(round=1, is_approved=False),
    ),
    "dict[str, Any]": ({"a": 1},),
    **dict.fromkeys(("Any", "object", "JsonValue", "Union[JsonValue, ToolError]"), _VALUES),
}
"""Samples by the annotation of a parameter."""
_MODULES = (
    of_writes,
    of_batches,
    permission,
    collapse,
    as_json,
    breakers,
    call,
    retrying,
    runner,
    substitution,
)
READERS = tuple(reader for module in _MODULES for reader in readers_of_samples(module, _SAMPLES))


@each_row("reader", READERS, ids=str)
def test_the_text_of_every_answer_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
