"""Events: every typed message of the bus, one file per emitter."""

from shared.events.base import COMPONENTS, AnyEvent, Component, Event, EventData
from shared.events.client import ApprovalDecided, CancellationRequested, QuerySubmitted, QuestionAnswered
from shared.events.codec import decode, encode
from shared.events.context_synthesizer import BriefingReady, ToSummarize
from shared.events.coordinator import (
    ApprovalRequested,
    AssemblyOverdue,
    AssemblyRequested,
    BriefingRequested,
    CallToApprove,
    DeadlineReached,
    ModelDue,
    OutagesSeen,
    PersonOverdue,
    Question,
    QuestionAsked,
    ReasoningRequested,
    RungTaken,
    SessionOpened,
    SummaryRequested,
    ToolsRequested,
)
from shared.events.reasoning_engine import (
    ReasoningCompleted,
    ReasoningFailed,
    StopReason,
    SummaryCompleted,
    SummaryFailed,
)
from shared.events.response_assembler import ResponseReady
from shared.events.runtime import ComponentFailed
from shared.events.tool_dispatcher import ToolsCompleted

__all__ = [
    "COMPONENTS",
    "AnyEvent",
    "ApprovalDecided",
    "ApprovalRequested",
    "AssemblyOverdue",
    "AssemblyRequested",
    "BriefingReady",
    "BriefingRequested",
    "CallToApprove",
    "CancellationRequested",
    "Component",
    "ComponentFailed",
    "DeadlineReached",
    "Event",
    "EventData",
    "ModelDue",
    "OutagesSeen",
    "PersonOverdue",
    "QuerySubmitted",
    "Question",
    "QuestionAnswered",
    "QuestionAsked",
    "ReasoningCompleted",
    "ReasoningFailed",
    "ReasoningRequested",
    "ResponseReady",
    "RungTaken",
    "SessionOpened",
    "StopReason",
    "SummaryCompleted",
    "SummaryFailed",
    "SummaryRequested",
    "ToSummarize",
    "ToolsCompleted",
    "ToolsRequested",
    "decode",
    "encode",
]
