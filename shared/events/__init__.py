"""Events: every typed message of the bus, one file per emitter."""

from shared.events.base import COMPONENTS, AnyEvent, Component, Event, EventData
from shared.events.client import CancellationRequested, QuerySubmitted
from shared.events.codec import decode, encode
from shared.events.context_synthesizer import BriefingReady
from shared.events.coordinator import (
    AssemblyOverdue,
    AssemblyRequested,
    BriefingRequested,
    DeadlineReached,
    ReasoningRequested,
    SessionOpened,
    ToolsRequested,
)
from shared.events.reasoning_engine import ReasoningCompleted, ReasoningFailed, StopReason
from shared.events.response_assembler import ResponseReady
from shared.events.runtime import ComponentFailed
from shared.events.tool_dispatcher import ToolsCompleted

__all__ = [
    "COMPONENTS",
    "AnyEvent",
    "AssemblyOverdue",
    "AssemblyRequested",
    "BriefingReady",
    "BriefingRequested",
    "CancellationRequested",
    "Component",
    "ComponentFailed",
    "DeadlineReached",
    "Event",
    "EventData",
    "QuerySubmitted",
    "ReasoningCompleted",
    "ReasoningFailed",
    "ReasoningRequested",
    "ResponseReady",
    "SessionOpened",
    "StopReason",
    "ToolsCompleted",
    "ToolsRequested",
    "decode",
    "encode",
]
