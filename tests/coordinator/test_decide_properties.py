"""`decide` under any order, repetition, loss and redelivery of events."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from coordinator.decide import decide
from coordinator.session import Decision, Session
from shared.errors import ErrorInfo
from shared.events import (
    AnyEvent,
    AssemblyOverdue,
    AssemblyRequested,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    EventData,
    ReasoningFailed,
    ReasoningRequested,
    ToolsRequested,
)
from shared.events.base import COMPONENTS
from shared.ids import new_id
from shared.values import Usage
from tests.coordinator.builders import (
    ENTRY,
    a_briefing,
    a_reply,
    a_response,
    an_opened_session,
    some_results,
)
from tests.envelopes import an_event


class AnySession(RuleBasedStateMachine):
    """Feeds one session everything it could ever meet, and checks what it asks for."""

    session: Session
    seen: list[AnyEvent]

    @initialize(
        max_rounds=st.integers(1, 5),
        max_tool_calls=st.integers(0, 6),
        max_tokens=st.integers(100, 20_000),
        tools=st.sampled_from([(), ("search",), ("search", "fetch")]),
    )
    def open(self, max_rounds: int, max_tool_calls: int, max_tokens: int, tools: tuple[str, ...]) -> None:
        decision = an_opened_session(
            tools, max_rounds=max_rounds, max_tool_calls=max_tool_calls, max_tokens=max_tokens
        )
        self.session, self.seen = decision.session, []
        self.calls_handed_out = self.assemblies = self.ends = 0
        self.rounds_reasoned: set[int] = set()

    def feed(self, event: AnyEvent) -> None:
        before = self.session
        decision = decide(before, event, ENTRY)
        assert decide(before, event, ENTRY) == decision, "a decision depends on its inputs alone"
        self.seen.append(event)
        self.check(before, decision)
        self.session = decision.session

    def check(self, before: Session, decision: Decision) -> None:
        if before.phase in ("assembling", "closed"):
            assert decision.commands == (), "no command after the end"
        assert len(decision.commands) <= 1
        self.ends += decision.closes
        for command in decision.commands:
            match command:
                case ReasoningRequested():
                    assert before.usage.total_tokens < before.limits.max_tokens
                    assert command.round <= before.limits.max_rounds
                    is_last = command.round == before.limits.max_rounds
                    assert not (is_last and command.tools), "the last round is asked without tools"
                    self.rounds_reasoned.add(command.round)
                case ToolsRequested():
                    self.calls_handed_out += sum(call.refused is None for call in command.calls)
                case AssemblyRequested():
                    self.assemblies += 1

    def answer(self, data: EventData) -> None:
        self.feed(an_event(data, answers=self.session.awaiting))

    @rule(batches=st.lists(st.integers(1, 4), min_size=1, max_size=4))
    def progress(self, batches: list[int]) -> None:
        """The replies that are waited for: left to chance, few sessions would see a second batch."""
        for calls in batches:
            if self.session.phase == "briefing":
                self.briefing(100)
            if self.session.phase == "reasoning":
                self.answer(a_reply(calls=calls, round=self.session.round))
            if self.session.phase == "tools":
                self.results(calls, "ok")

    @rule(tokens=st.integers(1, 5_000))
    def briefing(self, tokens: int) -> None:
        self.answer(a_briefing(self.session.round, tokens))

    @rule(
        calls=st.integers(0, 4),
        tokens=st.integers(0, 3_000),
        stop=st.sampled_from([None, "max_tokens", "refusal", "context_window"]),
    )
    def reply(self, calls: int, tokens: int, stop: str | None) -> None:
        fields = {"stop_reason": stop} if stop else {}
        usage = Usage(input_tokens=tokens)
        self.answer(a_reply(calls=calls, round=self.session.round, usage=usage, **fields))

    @rule()
    def model_failure(self) -> None:
        error = ErrorInfo(code="overloaded", message="529")
        self.answer(ReasoningFailed(round=self.session.round, error=error, model="m"))

    @rule(calls=st.integers(1, 4), status=st.sampled_from(["ok", "error"]))
    def results(self, calls: int, status: str) -> None:
        self.answer(some_results(calls, status, self.session.round))

    @rule(component=st.sampled_from(COMPONENTS), is_current=st.booleans())
    def dead_letter(self, component: str, is_current: bool) -> None:
        failed = self.session.awaiting if is_current and self.session.awaiting else new_id()
        error = ErrorInfo(code="internal_error", message="it broke")
        fields = {"component": component, "failed_event": failed, "error": error}
        self.feed(an_event(ComponentFailed.model_validate(fields)))

    @rule(data=st.sampled_from([a_briefing(), a_reply(calls=2), some_results()]))
    def stranger(self, data: EventData) -> None:
        """An event that answers nothing we asked changes nothing."""
        before = self.session
        self.feed(an_event(data, answers=new_id()))
        assert self.session == before

    @precondition(lambda self: self.seen)
    @rule(data=st.data())
    def repetition(self, data: st.DataObject) -> None:
        self.feed(data.draw(st.sampled_from(self.seen)))

    @rule(data=st.sampled_from([DeadlineReached(), CancellationRequested(), AssemblyOverdue()]))
    def interruption(self, data: EventData) -> None:
        self.feed(an_event(data))

    @precondition(lambda self: self.session.phase == "assembling")
    @rule()
    def response(self) -> None:
        self.answer(a_response())

    @invariant()
    def bounds_hold(self) -> None:
        if not hasattr(self, "session"):
            return
        assert self.session.round <= self.session.limits.max_rounds
        assert len(self.rounds_reasoned) <= self.session.limits.max_rounds
        assert self.calls_handed_out <= self.session.limits.max_tool_calls
        assert self.assemblies <= 1, "the answer is asked for once"
        assert self.ends <= 1, "a session ends once"

    def teardown(self) -> None:
        """Whatever happened, the deadline brings the session to its one end."""
        if not hasattr(self, "session"):
            return
        self.feed(an_event(DeadlineReached()))
        self.answer(a_response())
        assert self.session.phase == "closed"
        assert (self.assemblies, self.ends) == (1, 1)


AnySession.TestCase.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)
TestAnySession = AnySession.TestCase
