"""Events: every typed message of the bus, one file per emitter."""

from antiphon_shared.events.base import COMPONENTS, AnyEvent, Component, Event, EventData
from antiphon_shared.events.client import (
    ApprovalDecided,
    CancellationRequested,
    QuerySubmitted,
    QuestionAnswered,
)
from antiphon_shared.events.codec import decode, encode
from antiphon_shared.events.context_synthesizer import BriefingReady, ToSummarize
from antiphon_shared.events.coordinator import (
    AnswerRefused,
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
    StepBegun,
    StepOutput,
    StepToBrief,
    SummaryRequested,
    ToolsRequested,
)
from antiphon_shared.events.reasoning_engine import (
    ReasoningCompleted,
    ReasoningFailed,
    StopReason,
    SummaryCompleted,
    SummaryFailed,
)
from antiphon_shared.events.response_assembler import ResponseReady
from antiphon_shared.events.runtime import ComponentFailed
from antiphon_shared.events.tool_dispatcher import ToolsCompleted

__all__ = [
    "COMPONENTS",
    "AnswerRefused",
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
    "StepBegun",
    "StepOutput",
    "StepToBrief",
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
