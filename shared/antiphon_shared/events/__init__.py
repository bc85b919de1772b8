"""Events: every typed message of the bus, by emitter; the coordinator has further files for runs, timers and people.

A new event is a class in its emitter's file; its name is listed here and in `codec.py` (`EVENT_DATA`).
"""

from antiphon_shared.events.base import COMPONENTS, AnyEvent, Component, Event, EventData
from antiphon_shared.events.client import (
    ApprovalDecided,
    CancellationRequested,
    InputGiven,
    OutcomeSettled,
    Parent,
    QuerySubmitted,
    QuestionAnswered,
    ResumeRequested,
)
from antiphon_shared.events.codec import decode, encode
from antiphon_shared.events.context_synthesizer import BriefingReady, ToSummarize
from antiphon_shared.events.coordinator import (
    AnswerRefused,
    AssemblyRequested,
    BriefingRequested,
    FallbackTaken,
    OutagesSeen,
    ReasoningRequested,
    SessionOpened,
    StepBegun,
    StepOutput,
    StepToBrief,
    SummaryRequested,
    ToolsRequested,
)
from antiphon_shared.events.coordinator_people import (
    ApprovalRequested,
    CallToApprove,
    Question,
    QuestionAsked,
)
from antiphon_shared.events.coordinator_runs import (
    ChildBegun,
    ChildEnded,
    ChildWaiting,
    InputRefused,
    InputRequested,
    NodeDue,
    NodeSettled,
    NodesSettled,
    PinnedTool,
    RunOpened,
)
from antiphon_shared.events.coordinator_timers import (
    AssemblyOverdue,
    DeadlineReached,
    ModelDue,
    PersonOverdue,
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
    "ChildBegun",
    "ChildEnded",
    "ChildWaiting",
    "Component",
    "ComponentFailed",
    "DeadlineReached",
    "Event",
    "EventData",
    "FallbackTaken",
    "InputGiven",
    "InputRefused",
    "InputRequested",
    "ModelDue",
    "NodeDue",
    "NodeSettled",
    "NodesSettled",
    "OutagesSeen",
    "OutcomeSettled",
    "Parent",
    "PersonOverdue",
    "PinnedTool",
    "QuerySubmitted",
    "Question",
    "QuestionAnswered",
    "QuestionAsked",
    "ReasoningCompleted",
    "ReasoningFailed",
    "ReasoningRequested",
    "ResponseReady",
    "ResumeRequested",
    "RunOpened",
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
