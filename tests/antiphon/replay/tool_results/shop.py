"""A shop's tools, as they are today; `changes` says how they differ from when a session was recorded."""

import socket
import threading
from typing import Any

from antiphon import tool
from tool_dispatcher.authoring.failures import ToolFailed

changes: set[str] = set()
calls: list[str] = []
under_way = 0
most_under_way = 0
_lock = threading.Lock()


@tool(effect="read")
def find_order(customer: str) -> dict[str, Any]:
    """Find the order of a customer."""
    calls.append(f"find_order {customer}")
    return {
        "id": "O-17",
        "total": 12.5 if "price" not in changes else 12.9,
        "read_at": "10:00" if "time" not in changes else "11:30",
    }


@tool(effect="read", result_bytes_max=1_000)
def read_log(day: int) -> str:
    """Read the log of a day."""
    calls.append("read_log")
    return "All is quiet in the shop. " * 200


@tool(effect="read")
def login_of(customer: str) -> dict[str, Any]:
    """Return how a customer logs in."""
    secret = "hunter2-Xk29dkw0" if "login" not in changes else "otherwise-88317aa"
    return {"user": customer if "user" not in changes else "nobody", "password": secret, "pin": 4711}


@tool(
    effect="read",
    mode="fan-out-bounded",
    max_concurrency=1,
    timeout_s=0.5,
    retry=2,
    backoff={"initial_ms": 10, "max_ms": 10},
)
def ask_warehouse(part: str) -> dict[str, Any]:
    """Ask the warehouse for a part, one call at a time."""
    global under_way, most_under_way
    with _lock:
        under_way += 1
        most_under_way = max(most_under_way, under_way)
    threading.Event().wait(0.02)
    with _lock:
        under_way -= 1
    calls.append(f"ask_warehouse {part}")
    if "slow" in changes:
        threading.Event().wait(30)
    if "flaky" in changes and calls.count(f"ask_warehouse {part}") == 1:
        raise ToolFailed("api_failure", "The warehouse is away.")
    return {"part": part, "left": 3}


@tool(effect="read")
def ask_weather(city: str) -> dict[str, Any]:
    """Ask for the weather, from another machine."""
    if "network" in changes:
        with socket.socket() as one:
            one.connect(("192.0.2.1", 80))
    return {"city": city, "degrees": 21}


@tool(effect="read")
def refuse(reason: str) -> str:
    """Refuse always."""
    raise ToolFailed("not_found", f"There is no {reason if 'words' not in changes else 'such thing'}.")


@tool(effect="write")
def send_parcel(order: str) -> str:
    """Send a parcel."""
    calls.append("send_parcel")
    return "sent"
