"""Events of the coordinator about runs of workflows, and about sessions that other sessions have begun."""

from typing import Any, ClassVar, Literal

from pydantic import AwareDatetime, Field

from antiphon_shared.events.base import Component, EventData
from antiphon_shared.events.session import Response
from antiphon_shared.tools.calls import Approval
from antiphon_shared.values import DEFAULT_TENANT, Round, SessionId, Tenant, Value


class PinnedTool(Value):
    """The properties of a tool that a run's decisions depend on, as they were when the run began."""

    is_write: bool = False
    is_idempotent: bool = False
    is_sequential: bool = False
    is_open_world: bool = Field(
        default=False, description="True if its results may contain text from unknown authors."
    )
    approval: Approval = "never"
    depends_on: tuple[str, ...] = ()
    timeout_s: float = Field(default=30.0, gt=0)


class RunOpened(EventData):
    """The recorded inputs of a run's decisions."""

    type: ClassVar[str] = "antiphon.run.opened.v1"

    workflow: str
    specification: str = Field(description="Content hash of the specification; empty where there is none.")
    catalogue: str = Field(description="Content hash of the tool catalogue; empty when there was none.")
    tools: dict[str, PinnedTool] = Field(description="The tools that the workflow calls and that there are.")
    problem: str = Field(
        default="", description="Reason why the run cannot start, as a sentence; empty if it can."
    )
    timeout_s: float = Field(
        gt=0, description="Limit of working time; waiting for people only does not count."
    )
    person_s: float = Field(gt=0, description="Seconds that an approval is waited for at most.")
    tenant: Tenant = DEFAULT_TENANT
    grant_refused: str = Field(
        default="", description="Reason why its grant was refused; empty when it was accepted."
    )
    is_grant_ignored: bool = Field(
        default=False, description="True if the grant was ignored because no key to verify it is set."
    )


class InputRequested(EventData):
    """A run waits for values from a person."""

    type: ClassVar[str] = "antiphon.input.requested.v1"

    round: Round = Field(description="The number of the request.")
    node: str
    message: str
    expects: dict[str, Any] = Field(
        description="The values by name, each with its type, as params have them."
    )
    until: AwareDatetime


class InputRefused(EventData):
    """Values that a person gave do not count; the run continues to wait."""

    type: ClassVar[str] = "antiphon.input.refused.v1"

    round: Round
    because: str


class NodeSettled(Value):
    """A node of a run that has settled."""

    path: str
    status: Literal["done", "failed", "skipped", "stopped"]
    message: str = Field(default="", description="Reason for the failure; empty without one.")


class NodesSettled(EventData):
    """The nodes that have settled in a run, apart from calls, which report themselves; for observers."""

    type: ClassVar[str] = "antiphon.nodes.settled.v1"

    nodes: tuple[NodeSettled, ...] = Field(min_length=1)
    more: int = Field(default=0, ge=0, description="Number of nodes that are not listed.")


class NodeDue(EventData):
    """The time of a node of a run has come: to continue, to retry, or to time out; sent by a timer."""

    type: ClassVar[str] = "antiphon.node.due.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    node: str
    attempt: int = Field(ge=0, description="0: the node as a whole has taken too long.")


class ChildBegun(EventData):
    """A session has begun another, and waits for its end."""

    type: ClassVar[str] = "antiphon.child.begun.v1"

    round: Round = Field(description="Round of a session, or request number of a run.")
    child: SessionId
    node: str = Field(default="", description="For a run: path of the node that is a session.")
    call_id: str = Field(default="", description="For a session: id of the call that is a run.")


class ChildWaiting(EventData):
    """A run that a session has begun waits for a person."""

    type: ClassVar[str] = "antiphon.child.waiting.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    call_id: str
    child: SessionId
    request: Round = Field(description="The number of the request in the run.")
    message: str
    expects: dict[str, Any]
    because: str = Field(default="", description="Reason why the latest values were refused.")
    until: AwareDatetime


class ChildEnded(EventData):
    """A session that another has begun is over."""

    type: ClassVar[str] = "antiphon.child.ended.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    call_id: str = ""
    response: Response
