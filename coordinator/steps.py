"""The steps of a query: the current step, and the tools that may be called in it. Pure.

A step has its own output, which must fit its own schema and validations (outputs.py), and its own rounds. A
new attempt keeps facts and writes, and drops replies and earlier calls. This file and attempts.py enforce the
order of the steps.
"""

from collections.abc import Iterable, Sequence

from antiphon_shared.events import StepBegun, StepOutput, StepToBrief
from antiphon_shared.output.steps import Step
from antiphon_shared.tools.calls import RequestedCall

from coordinator.session import Session
from coordinator.session_output import Output, StepPlan, Steps
from coordinator.session_parts import replace


def plans_of(steps: Sequence[Step], usable: Sequence[str]) -> Steps:
    """Return the steps in the session's form, before the first; `usable` are the tools that it may use."""
    permitted = set(usable)
    lacking = dict.fromkeys(name for step in steps for name in step.tools if name not in permitted)
    plans = tuple(
        StepPlan(
            name=step.name,
            tools=tuple(name for name in usable if name in step.tools),
            max_rounds=step.max_rounds,
            attempts=step.attempts,
            has_schema=step.output is not None,
            validation_tools=step.validation_tools or (),
        )
        for step in steps
    )
    return Steps(plans=plans, lacking=tuple(lacking))


def begin_attempt(session: Session, number: int, attempt: int = 1, because: Iterable[str] = ()) -> Session:
    """Return the session at the beginning of an attempt at the step with that number, in the session's round."""
    steps = replace(
        session.steps, number=number, attempt=attempt, begun=session.round, because=tuple(because)
    )
    plan = steps.plans[number - 1]
    return replace(
        session,
        last_round=None,
        steps=steps,
        tools=replace(session.tools, usable=plan.tools, offer=None, failed_calls=(), barren_rounds=0),
        output=Output(is_demanded=plan.has_schema, validation_tools=plan.validation_tools),
    )


def note_of(session: Session) -> StepBegun:
    """Return the event for the log about an attempt that begins."""
    steps = session.steps
    assert steps.plan is not None, "there is a step that begins"
    return StepBegun(
        round=session.round,
        step=steps.plan.name,
        number=steps.number,
        attempt=steps.attempt,
        because=steps.because,
    )


def refusal(session: Session, tool: str) -> str | None:
    """Return why a tool may not be called in the current step, when it belongs to another step; else None."""
    steps = session.steps
    if steps.plan is None or tool in steps.plan.tools:
        return None
    owners = [number for number, plan in enumerate(steps.plans, 1) if tool in plan.tools]
    if not owners:
        return None
    owner, current = steps.plans[owners[-1] - 1].name, steps.plan.name
    if owners[-1] < steps.number:
        return (
            f"step `{owner}` is done, and `{tool}` was its tool. This is step `{current}`: mend its result with the "
            "tools offered, and validate again"
        )
    return f"`{tool}` is for step `{owner}`, which begins when step `{current}` is done"


def with_refused_calls(session: Session, calls: tuple[RequestedCall, ...]) -> tuple[RequestedCall, ...]:
    """Return the batch with the calls of other steps' tools refused, also those that repeat an earlier call."""
    if not session.steps.number:
        return calls
    reasons = {call.name: refusal(session, call.name) for call in calls}
    return tuple(
        call.model_copy(update={"refused": why}) if (why := reasons[call.name]) else call for call in calls
    )


def to_brief(session: Session) -> StepToBrief | None:
    """Return the current step as the synthesizer needs it."""
    steps = session.steps
    if not steps.number:
        return None
    return StepToBrief(
        number=steps.number,
        attempt=steps.attempt,
        begun=steps.begun,
        input=steps.replies[-1] if steps.replies else None,
        is_untrusted=session.material.has_untrusted,
    )


def notice(session: Session) -> str:
    """Return the notice that the model gets once, when an attempt follows a failed one."""
    if not session.steps.because or session.round != session.steps.begun:
        return ""
    faults = " ".join(f"{n}. {one}" for n, one in enumerate(session.steps.because, 1))
    return (
        f"The last attempt at this step failed: {faults} Begin the step afresh. Completed writes are not undone: a "
        "write that is asked for again is answered from its record."
    )


def finished_outputs(session: Session) -> tuple[StepOutput, ...]:
    """Return the outputs of the finished steps."""
    done = zip(session.steps.plans, session.steps.replies, strict=False)
    return tuple(StepOutput(step=plan.name, reply=reply) for plan, reply in done)
