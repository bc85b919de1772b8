"""A session's document as releases before its parts have stored it: read into the parts, and written back."""

import orjson

from coordinator.document import SESSION
from coordinator.session import Session

FLAT = {
    "id": "s1",
    "format": 2,
    "question": "1-0",
    "limits": {"max_rounds": 4, "max_tool_calls": 20, "max_tokens": 200_000, "deadline_s": 300.0},
    "catalogue": "c0ffee",
    "tools": ["a", "b"],
    "model": "own",
    "opened": "2026-11-21T12:00:00Z",
    "deadline": "2026-11-21T12:05:00Z",
    "tenant": "acme",
    "grant": "granted",
    "citations": "strict",
    "conversation": "c9",
    "is_interactive": True,
    "built_ins": ["recall"],
    "offer": ["a"],
    "succeeded": ["b"],
    "failed_calls": ["a (timeout)"],
    "barren_rounds": 1,
    "has_handles": True,
    "rounds_used": 2,
    "tool_rounds_used": 3,
    "tool_calls_used": 4,
    "tokens_estimated": 5,
    "tokens_counted": 6,
    "reasoning": "2-0",
    "results": "3-0",
    "untrusted_calls": ["c1"],
    "has_untrusted": True,
    "has_omissions": True,
    "missed": ["F7"],
    "models": ["own", "other"],
    "asked_model": "asked",
    "unusable": ["bad"],
    "model_failures": 8,
    "reasoning_failures": 9,
    "pauses": 10,
    "waits_for_model": 11,
    "is_last_call": True,
    "undecided": ["c2"],
    "unanswered": ["c3"],
    "summary": "4-0",
    "summaries_asked": 12,
    "summary_failures": 13,
    "summary_tokens": 14,
    "in_doubt": ["pay c4"],
    "phase": "tools",
    "round": 15,
    "looks_again": 16,
    "awaiting": "01938c3e-0000-7000-8000-000000000001",
    "summary_awaiting": "01938c3e-0000-7000-8000-000000000002",
}


def read() -> Session:
    return SESSION.read(orjson.dumps(FLAT))


def test_every_field_of_a_flat_document_is_read_into_its_part() -> None:
    one = read()
    query, tools, spent, material = one.query, one.tools, one.spent, one.material
    assert (query.question, query.tenant, query.grant, query.citations) == (
        "1-0",
        "acme",
        "granted",
        "strict",
    )
    assert (query.conversation, query.is_interactive) == ("c9", True)
    assert (tools.catalogue, tools.usable, tools.built_ins, tools.offer) == (
        "c0ffee",
        ("a", "b"),
        ("recall",),
        ("a",),
    )
    assert (tools.succeeded, tools.failed_calls) == (("b",), ("a (timeout)",))
    assert (tools.barren_rounds, tools.has_handles) == (1, True)
    assert (spent.rounds, spent.tool_rounds, spent.tool_calls) == (2, 3, 4)
    assert (spent.tokens_estimated, spent.tokens_counted) == (5, 6)
    assert (material.reasoning, material.results, material.untrusted_calls) == ("2-0", "3-0", ("c1",))
    assert (material.has_untrusted, material.has_omissions, material.missed) == (True, True, ("F7",))
    assert (one.models.own, one.models.order, one.models.asked) == ("own", ("own", "other"), "asked")
    assert (one.models.unusable, one.models.failures, one.models.round_failures) == (("bad",), 8, 9)
    assert (one.models.pauses, one.models.waits, one.models.is_last_call) == (10, 11, True)
    assert (one.people.undecided, one.people.unanswered) == (("c2",), ("c3",))
    assert (one.summaries.ready, one.summaries.asked) == ("4-0", 12)
    assert (one.summaries.failures, one.summaries.tokens) == (13, 14)
    assert one.writes.in_doubt == ("pay c4",)
    assert (one.phase, one.round, one.looks_again) == ("tools", 15, 16)
    assert (str(one.pending_request)[-1], str(one.summaries.awaiting)[-1]) == ("1", "2")


def test_a_document_is_written_in_the_format_of_the_release_that_opened_the_session() -> None:
    assert orjson.loads(SESSION.write(read(), 2)) == FLAT
