"""A run in Redis with hostile text in every field, for the commands that show runs."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from antiphon_shared.bus.keys import Keys
from antiphon_shared.events import EventData, InputRequested, QuerySubmitted, ResponseReady, RunOpened, encode
from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.events.session import NodeOutcome, QueryOptions, Response, RunOutcome, WorkflowCall
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.clock import utc_now

from coordinator.runs.state import RUN_CHANGE, Beginning, Open, RunChange
from coordinator.workflows.messages import Failure
from coordinator.workflows.state import NodeState

RUN_ID = "hostile-run"


def put_run(client: Any, keys: Keys, text: str) -> None:
    """Put a run into Redis that has failed and still waits at a node."""
    now = utc_now()
    call = WorkflowCall(name="w", params={"p": text})
    expects = {"a": {"type": "str", "description": text, "enum": [text]}, text: {"type": "str"}}
    asked = InputRequested(round=1, node=f"q{text}", message=text, expects=expects, until=now)
    opened = RunOpened(workflow="w", specification="", catalogue="", tools={}, timeout_s=1, person_s=1)
    outcome = RunOutcome(
        workflow=text,
        specification="",
        status="failed",
        nodes=(NodeOutcome(path=text, status="failed", message=text),),
        standing=(text,),
        unknown=(text,),
        undone=(text,),
        is_resumable=True,
    )
    response = Response(
        session_id=RUN_ID,
        status="failed",
        answer=text,
        run=outcome,
        termination_reason="workflow_failed",
        rounds_used=0,
        tool_calls_used=0,
        duration_ms=0,
    )
    first = uuid4()
    change = RunChange(
        nodes={f"n{text}": NodeState("failed", failure=Failure("x", text))},
        open={f"q{text}": Open(kind="person", number=1, attempt=1, until=now + timedelta(days=1))},
        number=1,
        ended="failed",
        beginning=Beginning(opened=opened, at=now),
    )
    events: list[EventData] = [
        QuerySubmitted(query=text, options=QueryOptions(workflow=call)),
        opened,
        asked,
        ResponseReady(**response.model_dump()),
    ]
    for data in events:
        event = ENVELOPES[type(data)](
            id=uuid4(),
            source="coordinator",
            type=data.type,
            subject=RUN_ID,
            time=now,
            correlationid=first,
            format=FORMAT,
            data=data,
        )
        client.xadd(keys.log(RUN_ID), {"event": encode(event)})
    client.rpush(keys.of_session(RUN_ID, "run"), first.bytes + RUN_CHANGE.write(change, FORMAT))
    written = response.model_dump_json()
    client.hset(keys.of_session(RUN_ID, "response"), mapping={"version": 1, "content": written})
    client.zadd(keys.sessions(0), {RUN_ID: 1})
