"""The peer of `replay verify`: temporalio's Replayer, on histories of as many events.

A session of r rounds is compared with a workflow that awaits enough activities for about as many events:
one a step, each with the workflow task that follows it. The histories are made by hand, as a server would write them.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from temporalio import workflow
from temporalio.api.common.v1 import Payloads, WorkflowType
from temporalio.api.enums.v1 import EventType, TaskQueueKind
from temporalio.api.history.v1 import History, HistoryEvent
from temporalio.client import WorkflowHistory
from temporalio.converter import DataConverter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

_BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
_QUEUE = "antiphon"
_EVENTS_AROUND, _EVENTS_PER_ACTIVITY = 5, 6
"""The events of a history: at its beginning and end, and for each activity."""


@workflow.defn(name="Rounds")
class Rounds:
    """Awaits one activity after another."""

    @workflow.run
    async def run(self, activities: int) -> str:
        answer = ""
        for _ in range(activities):
            answer = await workflow.execute_activity(
                "step", answer, start_to_close_timeout=timedelta(seconds=60), result_type=str
            )
        return answer


def events_per_second(
    events: int, histories: int, reply: str, *, is_sandboxed: bool = True
) -> tuple[int, float]:
    """Replay `histories` of about `events` events each; return the events of each, and events per second and core.

    `is_sandboxed`: with the Replayer's defaults; otherwise without the sandbox that rejects nondeterministic
    code.
    """
    activities = max(1, round((events - _EVENTS_AROUND) / _EVENTS_PER_ACTIVITY))
    history = asyncio.run(_history(activities, reply))
    runner = SandboxedWorkflowRunner() if is_sandboxed else UnsandboxedWorkflowRunner()
    replayer = Replayer(workflows=[Rounds], workflow_runner=runner)
    began_s = time.process_time()
    asyncio.run(_replay(replayer, history, histories))
    return len(history.events), len(history.events) * histories / (time.process_time() - began_s)


async def _replay(replayer: Replayer, history: WorkflowHistory, histories: int) -> None:

    async def each() -> AsyncIterator[WorkflowHistory]:
        for _ in range(histories):
            yield history

    results = await replayer.replay_workflows(each())
    if results.replay_failures:
        raise RuntimeError(f"the peer does not replay: {next(iter(results.replay_failures.values()))}")


async def _history(activities: int, reply: str) -> WorkflowHistory:
    history = _Writing()
    given = Payloads(payloads=await DataConverter.default.encode([activities]))
    payloads = Payloads(payloads=await DataConverter.default.encode([reply]))
    nothing = Payloads(payloads=await DataConverter.default.encode([""]))
    started = history.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
    ).workflow_execution_started_event_attributes
    started.workflow_type.CopyFrom(WorkflowType(name="Rounds"))
    started.task_queue.name, started.task_queue.kind = _QUEUE, TaskQueueKind.TASK_QUEUE_KIND_NORMAL
    started.input.CopyFrom(given)
    started.original_execution_run_id = started.first_execution_run_id = "run"
    task = history.workflow_task()
    for number in range(1, activities + 1):
        scheduled = history.add(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
        asked = scheduled.activity_task_scheduled_event_attributes
        asked.activity_id, asked.activity_type.name = str(number), "step"
        asked.task_queue.name = _QUEUE
        asked.input.CopyFrom(nothing if number == 1 else payloads)
        asked.workflow_task_completed_event_id = task
        begun = history.add(EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED)
        begun.activity_task_started_event_attributes.scheduled_event_id = scheduled.event_id
        ended = history.add(
            EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED
        ).activity_task_completed_event_attributes
        ended.scheduled_event_id, ended.started_event_id = scheduled.event_id, begun.event_id
        ended.result.CopyFrom(payloads)
        task = history.workflow_task()
    completed = history.add(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED)
    completed.workflow_execution_completed_event_attributes.workflow_task_completed_event_id = task
    completed.workflow_execution_completed_event_attributes.result.CopyFrom(payloads)
    return WorkflowHistory("rounds", list(history.events.events))


class _Writing:
    """A history in the making."""

    def __init__(self) -> None:
        self.events = History()

    def add(self, kind: "EventType.ValueType") -> HistoryEvent:
        event = self.events.events.add()
        event.event_id, event.event_type = len(self.events.events), kind
        event.event_time.FromDatetime(_BEGUN + timedelta(milliseconds=event.event_id))
        return event

    def workflow_task(self) -> int:
        """Add a workflow task that is scheduled, started and completed; return the id of its last event."""
        scheduled = self.add(EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED)
        scheduled.workflow_task_scheduled_event_attributes.task_queue.name = _QUEUE
        started = self.add(EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED)
        started.workflow_task_started_event_attributes.scheduled_event_id = scheduled.event_id
        completed = self.add(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
        attributes = completed.workflow_task_completed_event_attributes
        attributes.scheduled_event_id, attributes.started_event_id = scheduled.event_id, started.event_id
        return int(completed.event_id)
