"""Workflows for tests of recorded runs, their tools, and runs of them by the real pipeline."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any

from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.events import ApprovalDecided, ApprovalRequested, ChildBegun, EventData, ResponseReady
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.environment import environment
from antiphon_shared.process.ids import new_id
from antiphon_shared.workflows.specification import Specification

from antiphon import Antiphon, tool, workflows
from antiphon.recording.lines import EventLine, Line, RecordLine
from antiphon.recording.session_lines import session_lines
from antiphon.submission import signal
from antiphon.workflows import build

_LIMIT_S = 60.0

Meanwhile = Callable[[Antiphon, str], Awaitable[None]]
"""The actions of a person while a run is in flight."""


@tool(effect="read")
def look(x: int) -> dict[str, Any]:
    """Look for flights."""
    return {"n": x, "price": 100 * x, "found": [{"id": f"F{x}"}]}


@tool(effect="read")
def price(id: str) -> dict[str, Any]:
    """Say what a flight costs."""
    return {"price": len(id)}


@tool(effect="write")
def book(id: str, note: str = "") -> dict[str, Any]:
    """Book a flight."""
    return {"booking": f"B-{id}"}


@tool(effect="write")
def cancel(booking: str) -> dict[str, Any]:
    """Cancel a booking."""
    return {"cancelled": booking}


@tool(effect="write")
def broken(id: str) -> dict[str, Any]:
    """Fail."""
    raise ValueError("no seats")


@tool(effect="write")
def pay(amount: int) -> dict[str, Any]:
    """Pay."""
    return {"paid": amount}


@tool(effect="read")
def enter(password: str, api_key: str) -> dict[str, Any]:
    """Log in."""
    return {"greeting": f"hello {password}"}


TOOLS = (look, price, book, cancel, broken, pay, enter)
_X = {"x": {"type": "int", "required": True}}
WORKFLOWS: dict[str, Any] = {
    "chain": {
        "description": "Look, then book.",
        "params": _X,
        "graph": {
            "a": {"call": "look", "args": {"x": "$x"}},
            "b": {"call": "book", "depends_on": ["a"], "args": {"id": "$a.found.0.id"}},
        },
        "output": {"booking": "$b.booking", "n": "$a.n"},
    },
    "choose": {
        "description": "Book what is cheap, ask the price of what is dear.",
        "params": _X,
        "graph": {
            "a": {"call": "look", "args": {"x": "$x"}},
            "pick": {
                "type": "branch",
                "depends_on": ["a"],
                "on": [{"when": "$a.price < 500", "goto": "cheap"}, {"default": "dear"}],
            },
            "cheap": {"call": "book", "args": {"id": "$a.found.0.id"}},
            "dear": {"call": "price", "args": {"id": "$a.found.0.id"}},
        },
    },
    "fan": {
        "description": "Many at once, and a workflow among them.",
        "graph": {
            "each": {
                "type": "foreach",
                "items": "range(0, 6)",
                "as": "i",
                "concurrency": 3,
                "step": {"call": "look", "args": {"x": "$i"}},
            },
            "p": {
                "type": "parallel",
                "depends_on": ["each"],
                "branches": {
                    "l": {"call": "look", "args": {"x": "$each.3.n"}},
                    "r": {"workflow": "chain", "args": {"x": "$each.length"}},
                },
            },
        },
        "output": {"all": "$p"},
    },
    "undo": {
        "description": "What was booked is cancelled again.",
        "graph": {
            "a": {
                "call": "book",
                "args": {"id": "U"},
                "compensate": {"call": "cancel", "args": {"booking": "$a.booking"}},
            },
            "b": {"call": "broken", "depends_on": ["a"], "args": {"id": "$a.booking"}},
        },
    },
    "ask": {
        "description": "Ask a person, wait, and book.",
        "graph": {
            "q": {"type": "yield", "message": "Shall I?", "expects": {"ok": "bool"}},
            "w": {"type": "wait", "depends_on": ["q"], "seconds": 0.1},
            "b": {"call": "book", "depends_on": ["w"], "when": "$q.ok", "args": {"id": "X"}},
        },
    },
    "secret": {
        "description": "Log in with what must not be shown.",
        "params": {"password": {"type": "str", "required": True}},
        "graph": {
            "a": {"call": "enter", "args": {"password": "$password", "api_key": "a-key-of-the-author"}},
            "b": {"call": "book", "depends_on": ["a"], "args": {"id": "$a.greeting"}},
        },
    },
    "reasons": {
        "description": "Ask a model.",
        "params": _X,
        "graph": {
            "pick": {"type": "reason", "question": "What is the price for $x?", "tools": ["look"]},
            "b": {"call": "book", "depends_on": ["pick"], "args": {"id": "R"}},
        },
        "output": "$pick",
    },
    "settle": {
        "description": "Pay once somebody has approved.",
        "graph": {"p": {"call": "pay", "args": {"amount": 3}}},
    },
}


CALLED: dict[str, Any] = {
    "cheapest_flight": {
        "description": "Find the cheapest flight to a city.",
        "params": {"city": {"type": "str", "required": True, "example": "Lisbon"}},
        "graph": {"a": {"call": "look", "args": {"x": 3}}},
        "output": {"cheapest": "$a.found.0.id", "city": "$city"},
    },
    "ask_first": {
        "description": "Ask whether the hotel budget of a city is fine.",
        "params": {"city": {"type": "str", "required": True, "example": "Lisbon"}},
        "graph": {
            "q": {"type": "yield", "message": "Is the budget for $city fine?", "expects": {"ok": "bool"}}
        },
    },
}
QUESTIONS = {
    "calls": "What is the cheapest flight to the city Lisbon?",
    "waits": "Ask first whether the hotel budget of the city Lisbon is fine.",
}


def specification(change: Callable[[dict[str, Any]], object] = lambda workflows: None) -> Specification:
    """Return the workflows, with something changed in them."""
    changed = deepcopy(WORKFLOWS)
    change(changed)
    return build({"domain": "travel", "version": "1", "workflows": changed})


@asynccontextmanager
async def pipeline() -> AsyncIterator[Antiphon]:
    """Yield a pipeline with the tools, of which `pay` needs approval."""
    embedded = Antiphon.embedded(tools=list(TOOLS), scopes=["read", "write"], model="offline")
    with environment({"ANTIPHON_TOOL_DISPATCHER_APPROVAL": "pay"}):
        antiphon = await embedded.__aenter__()
    try:
        yield antiphon
    finally:
        await embedded.__aexit__(None, None, None)


async def run_in(
    antiphon: Antiphon,
    name: str,
    params: Mapping[str, Any] | None = None,
    *,
    source: Specification | None = None,
    meanwhile: Meanwhile | None = None,
) -> list[Line]:
    """Return the recording of a run, once it has its answer and its late events."""
    id = await workflows.start(antiphon, name, params, source=source or specification())
    if meanwhile is not None:
        await meanwhile(antiphon, id)
    await antiphon.result(id, _LIMIT_S)
    return await ended_lines(antiphon, id)


async def recorded_runs() -> dict[str, list[Line]]:
    """Return recordings of runs by name."""
    async with pipeline() as antiphon:
        return {
            "chain": await run_in(antiphon, "chain", {"x": 3}),
            "cheap": await run_in(antiphon, "choose", {"x": 3}),
            "dear": await run_in(antiphon, "choose", {"x": 7}),
            "fan": await run_in(antiphon, "fan"),
            "undo": await run_in(antiphon, "undo"),
            "ask": await run_in(antiphon, "ask", meanwhile=approve),
            "approved": await run_in(antiphon, "settle", meanwhile=approves),
            "unfit": await run_in(antiphon, "chain", {"x": "3"}),
            "secret": await run_in(antiphon, "secret", {"password": "open-sesame-17"}),
        }


async def recorded_sessions() -> dict[str, list[Line]]:
    """Return recordings of sessions that begin a run, of those that a run begins, and of such runs."""
    source = build({"domain": "trips", "version": "1", "workflows": {name: CALLED[name] for name in CALLED}})
    async with pipeline() as antiphon:
        found = {"reasons": await run_in(antiphon, "reasons", {"x": 3})}
        found["reasoned"] = await ended_lines(antiphon, child_of(found["reasons"]))
        await WorkflowStore(antiphon.open_bus()).publish([source])
        for name, question in QUESTIONS.items():
            id = await antiphon.submit(question)
            await antiphon.result(id, _LIMIT_S)
            found[name] = await ended_lines(antiphon, id)
            found[f"{name}_run"] = [
                line async for line in session_lines(child_of(found[name]), antiphon.open_bus())
            ]
        return found


def child_of(lines: list[Line]) -> str:
    """Return the first session that another has begun."""
    events = (line.event.data for line in lines if isinstance(line, EventLine))
    return next(data.child for data in events if isinstance(data, ChildBegun))


async def ended_lines(antiphon: Antiphon, run_id: str) -> list[Line]:
    """Return the recording of a run that has ended."""
    bus = antiphon.open_bus()
    async with asyncio.timeout(_LIMIT_S):
        while True:
            lines = [line async for line in session_lines(run_id, bus)]
            answers = [
                one
                for one in lines
                if isinstance(one, EventLine) and isinstance(one.event.data, ResponseReady)
            ]
            of = {answer.event.causationid for answer in answers}
            if any(isinstance(one, RecordLine) and one.record.of in of for one in lines):
                return lines
            await asyncio.sleep(0.01)


async def until_waiting(antiphon: Antiphon, run_id: str) -> None:
    """Wait until a run waits for a person's values."""
    async with asyncio.timeout(_LIMIT_S):
        while True:
            try:
                if await workflows.waiting(antiphon, run_id):
                    return
            except Exception:  # it has not begun
                pass
            await asyncio.sleep(0.01)


async def approve(antiphon: Antiphon, run_id: str) -> None:
    """Give a value that is refused first, then a valid one."""
    await until_waiting(antiphon, run_id)
    await workflows.give(antiphon, run_id, {"ok": 1})
    await workflows.give(antiphon, run_id, {"ok": True})


async def approves(antiphon: Antiphon, run_id: str) -> None:
    """Approve the call that waits."""
    async with asyncio.timeout(_LIMIT_S):
        while True:
            for _, event in await antiphon.open_bus().session(run_id).log():
                if isinstance(event.data, ApprovalRequested):
                    decided = {"round": event.data.round, "is_approved": True, "by": "me"}
                    await send_signal(antiphon, run_id, ApprovalDecided, decided)
                    return
            await asyncio.sleep(0.01)


async def send_signal(
    antiphon: Antiphon, run_id: str, kind: type[EventData], fields: Mapping[str, Any]
) -> None:
    """Send a signal to a run."""
    bus = antiphon.open_bus()
    first = await bus.first_event(run_id)
    assert first is not None, "the run has begun"
    await bus.publish(signal(kind, fields, run_id, first, new_id(), utc_now()), "signal")
