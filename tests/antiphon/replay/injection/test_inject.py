"""Faults injected into a recorded session, and its continuation."""

import pytest
from antiphon_shared.events import (
    AssemblyRequested,
    BriefingRequested,
    FallbackTaken,
    ReasoningRequested,
    ResponseReady,
    ToolsCompleted,
)
from antiphon_shared.process.errors import ConfigurationError

from antiphon.recording.lines import Line
from antiphon.replay.injection.faults import KINDS, kinds_for
from antiphon.replay.injection.inject import inject
from antiphon.replay.injection.trace import Traced
from tests.antiphon.recording.recorded import events


def sent(chain: Traced) -> list[object]:
    return [one for step in chain.steps for one in step.outputs]


def test_the_model_is_asked_again_with_the_errors_when_every_call_of_a_round_fails(
    courses_lines: list[Line],
) -> None:
    _, chain = inject(courses_lines, "tool_timeout@tools.completed@1")
    first = chain.steps[0].event.data
    assert isinstance(first, ToolsCompleted)
    assert [one.error and one.error.error_type for one in first.results] == ["timeout"]
    assert [one.rung for one in sent(chain) if isinstance(one, FallbackTaken)] == ["tools_failed"]
    asked = sent(chain)[-1]
    assert isinstance(asked, ReasoningRequested)
    assert "get_course_outline (timeout)" in asked.notice
    assert (chain.end, chain.answer) == ("The next step is a model call.", None)
    assert chain.steps[-1].session["barren_rounds"] == 1


def test_a_failing_model_is_asked_again_with_a_shorter_briefing(courses_lines: list[Line]) -> None:
    _, chain = inject(courses_lines, "model_overloaded@12")
    (briefing,) = (one for one in sent(chain) if isinstance(one, BriefingRequested))
    assert (briefing.round, briefing.level) == (2, "simplified")
    assert [one.rung for one in sent(chain) if isinstance(one, FallbackTaken)] == ["simplified_briefing"]


def test_a_refused_model_is_waited_for(courses_lines: list[Line]) -> None:
    _, chain = inject(courses_lines, "model_refused@6")
    assert [one.rung for one in sent(chain) if isinstance(one, FallbackTaken)] == ["waiting_for_model"]
    assert any("model" in step.timers for step in chain.steps)
    assert isinstance(sent(chain)[-1], ReasoningRequested)
    assert chain.steps[-1].event.time > chain.steps[0].event.time


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        ("deadline", "partial", "deadline_exceeded"),
        ("cancelled", "cancelled", "cancelled"),
    ],
)
def test_a_session_that_must_end_is_answered_from_its_facts(
    courses_lines: list[Line], fault: str, status: str, reason: str
) -> None:
    _, chain = inject(courses_lines, f"{fault}@18")
    assert chain.answer is not None
    assert (chain.answer.status, chain.answer.termination_reason) == (status, reason)
    assert chain.answer.sources
    assert isinstance(sent(chain)[0], AssemblyRequested)


def test_a_session_without_its_assembler_is_still_answered(courses_lines: list[Line]) -> None:
    _, chain = inject(courses_lines, "component_failed@response.ready")
    assert chain.answer is not None
    assert (chain.answer.status, chain.answer.termination_reason) == ("partial", "natural_completion")
    assert chain.answer.sources
    assert isinstance(sent(chain)[0], ResponseReady)


def test_every_fault_that_fits_an_event_leads_somewhere(courses_lines: list[Line]) -> None:
    tried = set()
    for line in events(courses_lines):
        for kind in kinds_for(line.event.data):
            _, chain = inject(courses_lines, f"{kind}@{line.n}")
            assert chain.steps, (kind, line.n)
            assert chain.answer or isinstance(sent(chain)[-1], ReasoningRequested), (kind, line.n)
            tried.add(kind)
    assert tried == set(KINDS)


def test_an_inapplicable_fault_names_the_applicable_ones(courses_lines: list[Line]) -> None:
    with pytest.raises(ConfigurationError, match="cannot replace event 6") as refused:
        inject(courses_lines, "tool_timeout@6")
    assert "model_timeout" in refused.value.hint
    assert "8, 14" in refused.value.hint
    with pytest.raises(ConfigurationError, match="applies to no event of this recording"):
        inject(courses_lines[: courses_lines.index(events(courses_lines)[6])], "tool_timeout@6")


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("tool_timeout", "does not name an event. It applies to event 8, 14: use tool_timeout@8"),
        ("tool_error:get_course_outline", "use tool_error:get_course_outline@8"),
        ("tool timeout", "is not a fault"),
        ("rain@5", "Fault 'rain' does not exist"),
        ("deadline:search@5", "does not apply to a tool"),
        ("tool_error:bake@8", "no call of 'bake'"),
        ("cancelled@99", "no event 99"),
    ],
)
def test_an_invalid_injection_is_refused(courses_lines: list[Line], what: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        inject(courses_lines, what)
