"""`decide` under any order, repetition, loss and redelivery of events."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from antiphon_shared.breakers.outages import NO_OUTAGES, ModelOutage, Outages
from antiphon_shared.bus.handling import SetTimer
from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    AssemblyOverdue,
    AssemblyRequested,
    BriefingRequested,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    EventData,
    ModelDue,
    OutagesSeen,
    PersonOverdue,
    QuestionAnswered,
    QuestionAsked,
    ReasoningFailed,
    ReasoningRequested,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolsRequested,
    ToSummarize,
)
from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.process.ids import child_id, new_id
from antiphon_shared.tools.calls import Catalogue, ToolCall
from antiphon_shared.values import Usage
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from coordinator.decide import decide
from coordinator.decision import Decision, Inputs
from coordinator.document import SESSION
from coordinator.session import Session
from coordinator.session_parts import Summaries, replace
from tests.coordinator.builders import (
    ENTRY,
    NOTED,
    a_briefing,
    a_catalogue,
    a_decision,
    a_reply,
    a_response,
    a_tool,
    an_answer,
    an_opened_session,
    some_results,
    too_much,
)
from tests.envelopes import START, an_event

APPROVED = "1795244309999-0"
"""The log entry of decisions."""
NOW = START + timedelta(seconds=1)
"""The time of all events in these tests."""
NO_TOKENS = Usage(cost_usd=0.0)
"""The usage of a free summary; any other one rightly reduces the budget of the session."""
NOTHING = a_catalogue()
FEW = a_catalogue("fetch", "search")
GUARDED = a_catalogue(
    a_tool("ask_user"),
    a_tool("book", "write", approval="always"),
    a_tool("note", "write", approval="after_untrusted"),
    a_tool("search", open_world=True),
)
MANY = a_catalogue(*(f"tool_{n:02}" for n in range(31)), "find_tools", "search")
names = st.sampled_from(["search", "ask_user", "book", "note", "tool_17", "find_tools", "invented"])
placeholders = st.sampled_from([{}, {"text": "${calls[0]}"}, {"question": "Which?"}])


class AnySession(RuleBasedStateMachine):
    """Feeds one session every possible event, and checks its requests."""

    session: Session
    seen: list[AnyEvent]

    @initialize(
        max_rounds=st.integers(1, 5),
        max_tool_calls=st.integers(0, 6),
        max_tokens=st.integers(100, 20_000) | st.just(200_000),
        catalogue=st.sampled_from([NOTHING, FEW, GUARDED, MANY]),
        models=st.sampled_from([(), ("m",), ("m", "n")]),
        deadline_s=st.sampled_from([300.0, 300.0, 5.0]),
        interactive=st.booleans(),
    )
    def open(
        self,
        max_rounds: int,
        max_tool_calls: int,
        max_tokens: int,
        catalogue: Catalogue,
        models: tuple[str, ...],
        deadline_s: float,
        interactive: bool,
    ) -> None:
        self.catalogue, self.outages = catalogue, NO_OUTAGES
        decision = an_opened_session(
            catalogue,
            models=models,
            max_rounds=max_rounds,
            max_tool_calls=max_tool_calls,
            max_tokens=max_tokens,
            deadline_s=deadline_s,
            interactive=interactive,
        )
        self.session, self.seen = decision.session, []
        limits = decision.session.limits.model_copy(update={"summaries_max": 0})
        self.twin = replace(decision.session, limits=limits)
        self.calls_handed_out = self.assemblies = self.ends = 0
        self.asked: dict[tuple[int, str], bool | None] = {}
        self.posed: dict[tuple[int, str], bool] = {}
        self.rounds_reasoned: set[int] = set()

    def feed(self, event: AnyEvent) -> None:
        before = self.session
        if isinstance(event.data, ApprovalDecided):
            self.note(event.data)
        if isinstance(event.data, QuestionAnswered):
            self.note_answer(event.data)
        entry = APPROVED if isinstance(event.data, ApprovalDecided | QuestionAnswered) else ENTRY
        decision = decide(before, event, entry, Inputs(self.catalogue, outages=self.outages))
        again = decide(before, event, entry, Inputs(self.catalogue, outages=self.recorded(decision)))
        assert again == decision, "it depends on its inputs alone, and they are recorded"
        self.seen.append(event)
        self.check(before, decision)
        self.session = decision.session
        twin = decide(self.twin, event, entry, Inputs(self.catalogue, outages=self.outages))
        assert without_summaries(decision) == without_summaries(twin), "a summary is never in the way"
        self.twin = twin.session

    def recorded(self, decision: Decision) -> Outages:
        """Return the outages as the log has them: seen with this decision, or with an earlier one."""
        seen = [one.outages for one in decision.commands if isinstance(one, OutagesSeen)]
        return seen[0] if seen else self.session.models.outages

    def note(self, decision: ApprovalDecided) -> None:
        """Note a person's decision if it counts: the first one, while the call waits."""
        if self.session.phase == "approval" and decision.round == self.session.round:
            for id in self.session.people.undecided:
                if not decision.calls or id in decision.calls:
                    self.asked[decision.round, id] = decision.is_approved

    def note_answer(self, answer: QuestionAnswered) -> None:
        if self.session.phase == "approval" and answer.round == self.session.round:
            for id in self.session.people.unanswered:
                if not answer.calls or id in answer.calls:
                    self.posed[answer.round, id] = True

    def check(self, before: Session, decision: Decision) -> None:
        if before.phase in ("assembling", "closed"):
            assert decision.commands == (), "no command after the end"
        commands = [one for one in decision.commands if not isinstance(one, (*NOTED, SummaryRequested))]
        assert len(commands) <= 1 or {one.type for one in commands} == {
            ApprovalRequested.type,
            QuestionAsked.type,
        }
        assert commands == list(decision.commands[: len(commands)]), "the awaited events come first"
        if decision.session.phase == "resting" and before.phase != "resting":
            self.check_rest(decision)
        self.ends += decision.closes
        for command in decision.commands:
            match command:
                case ReasoningRequested():
                    assert before.spent.usage.total_tokens < before.limits.max_tokens
                    assert command.round <= before.limits.max_rounds
                    is_last = command.round == before.limits.max_rounds
                    assert not (is_last and command.tools), "the last round is asked without tools"
                    assert command.model not in before.models.unusable
                    assert self.outages.out_until(command.model, NOW) is None, "it is in order"
                    assert not set(command.tools) & set(self.outages.tools)
                    self.rounds_reasoned.add(command.round)
                    assert before.tools.offer is None or set(before.tools.offer) <= set(
                        decision.session.tools.offer or ()
                    )
                case ApprovalRequested():
                    assert before.phase != "approval", "a person is asked once for each batch"
                    assert decision.session.pending_request is None
                    self.asked.update({(command.round, call.id): None for call in command.calls})
                case QuestionAsked():
                    assert before.phase != "approval", "the user is asked once for each batch"
                    assert before.query.is_interactive
                    self.posed.update({(command.round, one.id): False for one in command.questions})
                case ToolsRequested():
                    self.calls_handed_out += sum(call.refused is None for call in command.calls)
                    self.check_batch(before, command)
                case SummaryRequested():
                    assert isinstance(decision.commands[0], ReasoningRequested), "the event comes second"
                    assert before.summaries.awaiting is None, "one is under way at a time"
                    assert before.summaries.asked < before.limits.summaries_max
                    assert command.round < before.limits.max_rounds
                case AssemblyRequested():
                    self.assemblies += 1

    def check_rest(self, decision: Decision) -> None:
        """Check that a session that waits for a model uses no worker, and has a timer."""
        (timer,) = decision.timers
        assert isinstance(timer, SetTimer)
        assert isinstance(timer.due, datetime)
        assert NOW < timer.due < decision.session.deadline
        assert decision.session.pending_request is None

    def check_batch(self, before: Session, request: ToolsRequested) -> None:
        """Check that calls with an approval go out as decided, and no undecided call goes out."""
        assert all(call.idempotency_key is None for call in request.calls), "the dispatcher mints keys"
        for call in request.calls:
            if (request.round, call.id) in self.asked:
                decided = self.asked[request.round, call.id]
                assert (call.approval == APPROVED) is bool(decided), "no call is sent without a decision"
                assert (call.refused is None) is bool(decided)
            else:
                assert call.approval is None
                has_to_wait = call.name == "book" or (call.name == "note" and before.material.has_untrusted)
                assert not (has_to_wait and self.catalogue is GUARDED and call.refused is None)
            answered = self.posed.get((request.round, call.id), False)
            assert (call.answer == APPROVED) is answered
            is_posed = (request.round, call.id) in self.posed
            assert (call.refused is None) is answered or not is_posed
        self.asked.clear()
        self.posed.clear()

    def answer(self, data: EventData) -> None:
        self.feed(an_event(data, answers=self.session.pending_request))

    @rule(batches=st.lists(st.integers(1, 4), min_size=1, max_size=4))
    def progress(self, batches: list[int]) -> None:
        """Give the awaited replies: by chance alone few sessions would see a second batch."""
        for calls in batches:
            if self.session.phase == "briefing":
                self.briefing(100)
            if self.session.phase == "reasoning":
                self.answer(a_reply(calls=calls, round=self.session.round))
            if self.session.phase == "approval":
                self.approval(is_approved=True, some=[0, 1, 2, 3], round_off=0)
                self.users_answer(some=[], round_off=0)
            if self.session.phase == "tools":
                self.results(calls, "ok")

    @rule(
        tokens=st.integers(1, 5_000),
        to_summarize=st.sampled_from([None, too_much(), too_much(30_000)]),
        refused=st.sampled_from(["", "", "It lost a number."]),
        missed=st.sampled_from([(), ("F3",)]),
    )
    def briefing(
        self,
        tokens: int,
        to_summarize: ToSummarize | None = None,
        refused: str = "",
        missed: tuple[str, ...] = (),
    ) -> None:
        self.answer(a_briefing(self.session.round, tokens, to_summarize, refused, missed=missed))

    @precondition(lambda self: self.session.summaries.awaiting)
    @rule(kind=st.sampled_from(["completed", "failed", "lost", "reply lost"]))
    def summary(self, kind: str) -> None:
        """Check that a summary's outcome requests nothing and does not change the session's course."""
        before, request, round = self.session, self.session.summaries.awaiting, self.session.round
        assert request is not None
        if kind == "reply lost":
            self.session = self.report_dead_letter("coordinator", child_id(request, 0))
        elif kind == "lost":
            self.feed(an_event(a_dead_letter("reasoning_engine", request)))
        elif kind == "failed":
            error = ErrorInfo(code="overloaded", message="529")
            self.feed(
                an_event(SummaryFailed(round=round, error=error, model="m", usage=NO_TOKENS), answers=request)
            )
        else:
            completed = SummaryCompleted(
                round=round, text="F20: Six.", facts=("F20",), model="m", usage=NO_TOKENS
            )
            self.feed(an_event(completed, answers=request))
        if before.phase not in ("assembling", "closed"):
            assert self.session.summaries.awaiting is None

    def report_dead_letter(self, component: str, failed: UUID) -> Session:
        """Report a dead letter, once, as the runtime ensures, and check that nothing follows."""
        event = an_event(a_dead_letter(component, failed))
        decision = decide(self.session, event, ENTRY, Inputs(self.catalogue, outages=self.outages))
        assert (decision.commands, decision.timers) == ((), ())
        return decision.session

    @rule(
        calls=st.integers(0, 4),
        tokens=st.integers(0, 3_000),
        stop=st.sampled_from([None, "max_tokens", "refusal", "context_window"]),
    )
    def reply(self, calls: int, tokens: int, stop: str | None) -> None:
        fields = {"stop_reason": stop} if stop else {}
        usage = Usage(input_tokens=tokens)
        self.answer(a_reply(calls=calls, round=self.session.round, usage=usage, **fields))

    @rule(asked=st.lists(st.tuples(names, placeholders), min_size=1, max_size=4))
    def reply_with_calls(self, asked: list[tuple[str, dict[str, Any]]]) -> None:
        round = self.session.round
        calls = [
            ToolCall(id=f"call_{round}_{n}", name=name, arguments=arguments)
            for n, (name, arguments) in enumerate(asked)
        ]
        self.answer(a_reply("I look for tool_21.", calls, round))

    @rule(
        is_approved=st.booleans(), some=st.lists(st.integers(0, 5), max_size=4), round_off=st.integers(0, 1)
    )
    def approval(self, is_approved: bool, some: list[int], round_off: int) -> None:
        """Decide on calls of this round or the next, waiting or not; on all when none is named."""
        round = self.session.round
        ids = [f"call_{round}_{n}" for n in some]
        self.feed(an_event(a_decision(is_approved, *ids, round=round + round_off)))

    @rule(
        code=st.sampled_from(["overloaded", "invalid_request", "model_not_found", "circuit_open"]),
        retry_after_s=st.sampled_from([None, 0.0, 20.0, 1e9]),
    )
    def model_failure(self, code: str, retry_after_s: float | None) -> None:
        error = ErrorInfo(code=code, message="529")
        model = self.session.models.asked
        failures = self.session.models.failures
        failed = ReasoningFailed(
            round=self.session.round, error=error, model=model, retry_after_s=retry_after_s
        )
        self.answer(failed)
        assert self.session.models.failures <= min(failures + 1, self.session.limits.model_failures_max + 1)

    @rule(
        tools=st.sets(st.sampled_from(["search", "book", "tool_17"])),
        models=st.dictionaries(st.sampled_from(["m", "n"]), st.sampled_from([20, 290, 400])),
    )
    def outage(self, tools: set[str], models: dict[str, int]) -> None:
        """Let the decisions from now on see these outages."""
        out = tuple(
            ModelOutage(model=one, until=NOW + timedelta(seconds=s)) for one, s in sorted(models.items())
        )
        self.outages = Outages(tools=tuple(sorted(tools)), models=out)

    @rule(round_off=st.integers(0, 1))
    def model_due(self, round_off: int) -> None:
        is_due = self.session.phase == "resting" and not round_off
        due = max(1, self.session.models.waits + round_off)
        self.feed(an_event(ModelDue(round=self.session.round, wait=due)))
        assert not is_due or self.session.phase == "briefing"

    @rule(some=st.lists(st.integers(0, 5), max_size=4), round_off=st.integers(0, 1))
    def users_answer(self, some: list[int], round_off: int) -> None:
        round = self.session.round
        self.feed(an_event(an_answer("Red.", *(f"call_{round}_{n}" for n in some), round=round + round_off)))

    @rule(round_off=st.integers(-1, 1))
    def silence(self, round_off: int) -> None:
        """Fire the waiting timer of this round, or of another."""
        self.feed(an_event(PersonOverdue(round=max(1, self.session.round + round_off))))

    @rule(calls=st.integers(1, 4), status=st.sampled_from(["ok", "error"]))
    def results(self, calls: int, status: str) -> None:
        self.answer(some_results(calls, status, self.session.round))

    @rule(component=st.sampled_from(COMPONENTS), is_current=st.booleans())
    def dead_letter(self, component: str, is_current: bool) -> None:
        failed = (self.session.pending_request if is_current else None) or new_id()
        self.feed(an_event(a_dead_letter(component, failed)))

    @rule(data=st.sampled_from([a_briefing(), a_reply(calls=2), some_results()]))
    def unrelated(self, data: EventData) -> None:
        """Check that an event that answers none of our requests changes nothing."""
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
        is_waiting = self.session.phase == "approval"
        assert is_waiting is bool(self.session.people.pending)
        assert is_waiting is bool(self.session.people.undecided or self.session.people.unanswered)
        assert self.session.spent.tool_calls == self.calls_handed_out
        assert SESSION.read(SESSION.write(self.session, self.session.format)) == self.session

    def teardown(self) -> None:
        """Check that the deadline always brings the session to its one end."""
        if not hasattr(self, "session"):
            return
        self.feed(an_event(DeadlineReached()))
        self.answer(a_response())
        assert self.session.phase == "closed"
        assert (self.assemblies, self.ends) == (1, 1)


def a_dead_letter(component: str, failed: UUID) -> ComponentFailed:
    error = ErrorInfo(code="internal_error", message="it broke")
    fields = {"component": component, "failed_event": failed, "error": error}
    return ComponentFailed.model_validate(fields)


def without_summaries(decision: Decision) -> tuple[Any, ...]:
    """Return all of a decision that does not concern summaries."""
    commands = [
        command.model_copy(update={"summary": None, "may_summarize": True})
        if isinstance(command, BriefingRequested)
        else command
        for command in decision.commands
        if not isinstance(command, SummaryRequested)
    ]
    limits = decision.session.limits.model_copy(update={"summaries_max": 0})
    return (
        commands,
        replace(decision.session, limits=limits, summaries=Summaries()),
        decision.timers,
        decision.closes,
        decision.answer,
    )


AnySession.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
TestAnySession = AnySession.TestCase
