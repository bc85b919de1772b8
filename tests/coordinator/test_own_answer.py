"""The answer that the coordinator gives by itself."""

from datetime import timedelta
from typing import Any

from antiphon_shared.events.session import Response
from antiphon_shared.memory.findings import Findings
from antiphon_shared.memory.layers import Document, Fact, MemoryDelta, ReasoningNote, ToolUse
from antiphon_shared.memory.session_memory import Memory

from coordinator.own_answer import answer_without_assembler
from coordinator.requests import assembly_of
from coordinator.session_parts import Writes, replace
from tests.coordinator.builders import a_catalogue, a_reply, a_tool, an_opened_session
from tests.envelopes import START

WHY = "The answer could not be put together in time."
CATALOGUE = a_catalogue("search", a_tool("pay", "write"), a_tool("mail", "write"))


def a_memory(*uses: ToolUse, facts: int = 2, text: str = "") -> Memory:
    document = Document(id="D1", round=1, call_id="call_1", tool="search", position="$", title="Lights")
    delta = MemoryDelta(
        documents=(document,),
        facts=tuple(
            Fact(id=f"F{n}", document="D1", position="$", statement=f"Light {n} is white.")
            for n in range(1, facts + 1)
        ),
        tool_usage=uses,
        reasoning=(ReasoningNote(round=1, text=text),) if text else (),
    )
    return Memory("Which lights are there?").plus(delta)


def a_use(tool: str, outcome: str = "ok", message: str = "") -> ToolUse:
    return ToolUse(round=1, call_id=f"call_{tool}", tool=tool, arguments={}, outcome=outcome, message=message)


def answered_alone(
    text: str | None = "Light 2 is white [F2, F1].",
    memory: Memory | None = None,
    uncertain: tuple[str, ...] = (),
    unfinished: tuple[tuple[str, str], ...] = (),
    **request: Any,
) -> Response:
    opened = replace(an_opened_session(CATALOGUE).session, writes=Writes(in_doubt=uncertain))
    asked = assembly_of(opened, "complete", "natural_completion").model_copy(update=request)
    reply = None if text is None else a_reply(text)
    found = Findings(a_memory() if memory is None else memory, reply, unfinished)
    return answer_without_assembler(opened, asked, found, CATALOGUE, START + timedelta(seconds=42), WHY)


def test_the_coordinators_answer_holds_the_last_reply_with_its_sources() -> None:
    response = answered_alone()
    assert response.answer.startswith("Light 2 is white [1][2].\n\n---\n\n*The answer could not")
    assert [(one.number, one.id, one.tool, one.call_id) for one in response.sources] == [
        (1, "F2", "search", "call_1"),
        (2, "F1", "search", "call_1"),
    ]
    assert "1. Light 2 is white. (`search`, call_1)" in response.answer


def test_the_coordinators_answer_is_partial_and_states_the_reason() -> None:
    response = answered_alone()
    assert (response.status, response.termination_reason) == ("partial", "natural_completion")
    assert [(one.kind, one.severity) for one in response.uncertainty] == [("component_failed", "serious")]
    cancelled = answered_alone(status="cancelled", termination_reason="cancelled")
    assert (cancelled.status, cancelled.termination_reason) == ("cancelled", "cancelled")


def test_the_time_it_took_ends_when_it_is_given() -> None:
    assert answered_alone().duration_ms == 42_000


def test_a_reply_without_citations_lists_the_newest_facts() -> None:
    response = answered_alone("They are white.")
    assert response.answer.startswith("They are white.")
    assert [(one.number, one.id) for one in response.sources] == [(0, "F1"), (0, "F2")]


def test_without_a_reply_it_names_the_facts_and_the_models_last_words() -> None:
    response = answered_alone(None, a_memory(text="I look up the others."), status="partial")
    assert "- Light 1 is white. (`search`, call_1)" in response.answer
    assert "I look up the others." in response.answer
    assert len(response.sources) == 2
    nothing = answered_alone(None, Memory("?"))
    assert nothing.answer.startswith("There is no finished answer, and nothing was found")


def test_a_note_of_the_model_is_not_part_of_the_answer() -> None:
    response = answered_alone("White [F1].\n\n<note>\nplan: look up the rest\n</note>")
    assert "plan" not in response.answer


def test_every_write_is_named_with_its_outcome() -> None:
    uses = (
        a_use("search", "api_failure", "It is down."),
        a_use("pay"),
        a_use("mail", "permission_denied", "Not allowed."),
    )
    response = answered_alone(memory=a_memory(*uses))
    writes = response.answer.partition("**Writes**")[2].partition("**Sources**")[0]
    assert writes.strip().splitlines() == [
        "- `pay` (call_pay): done",
        "- `mail` (call_mail): not run: Not allowed.",
    ]
    assert ("tool_failed", "mail call_mail") in [(one.kind, one.about) for one in response.uncertainty]


def test_a_write_of_unknown_outcome_is_an_uncertainty() -> None:
    used = a_memory(a_use("pay", "outcome_unknown"))
    doubtful = ("pay call_pay", "mail call_mail", "wipe call_wipe")
    response = answered_alone(memory=used, uncertain=doubtful, unfinished=(("call_mail", "mail"),))
    kinds = {one.about: (one.kind, one.severity) for one in response.uncertainty}
    assert kinds["pay call_pay"] == kinds["wipe call_wipe"] == ("outcome_unknown", "serious")
    assert kinds["mail call_mail"] == ("call_unfinished", "caution")
    assert "- `mail` (call_mail): not run: the session ended first" in response.answer
    assert "- `wipe` (call_wipe): whether it took effect is unknown" in response.answer


def test_the_coordinators_answer_lists_repeated_and_refused_writes() -> None:
    uses = (
        a_use("pay"),
        a_use("pay").model_copy(update={"call_id": "c2", "round": 2, "repeated": "call_pay"}),
        a_use("pay", "repeated_write", "Not run.").model_copy(
            update={"call_id": "c3", "repeated": "call_pay"}
        ),
    )
    response = answered_alone(memory=a_memory(*uses))
    assert "- `pay` (call_pay): done\n- `pay` (c2): not done again: call call_pay" in response.answer
    assert "- `pay` (c3): not run again: Not run." in response.answer
    kinds = {one.about: (one.kind, one.severity) for one in response.uncertainty}
    assert kinds["pay c2"] == ("write_repeated", "note")
    assert kinds["pay c3"] == ("write_refused", "caution")
    assert "tool_failed" not in {one.kind for one in response.uncertainty}


def test_a_write_settled_by_a_later_call_is_no_longer_unknown() -> None:
    first = a_use("pay", "outcome_unknown")
    asked_again = first.model_copy(update={"call_id": "c2", "repeated": "call_pay"})
    last = a_use("pay").model_copy(update={"call_id": "c3", "settles": "call_pay"})
    before = answered_alone(memory=a_memory(first, asked_again))
    assert [one.about for one in before.uncertainty if one.kind == "outcome_unknown"] == ["pay call_pay"]
    after = answered_alone(memory=a_memory(first, asked_again, last))
    assert "outcome_unknown" not in {one.kind for one in after.uncertainty}
    assert "- `pay` (call_pay): a later call shows the outcome" in after.answer


def test_the_coordinators_answer_is_bounded() -> None:
    many = a_memory(*(a_use("pay") for _ in range(300)), facts=300)
    response = answered_alone(f"All [{', '.join(f'F{n}' for n in range(1, 301))}].", many)
    assert len(response.sources) == 50
    assert len(response.answer) < 20_000
