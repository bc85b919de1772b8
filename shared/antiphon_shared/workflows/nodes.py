"""The kinds of nodes in the graph of a workflow. Pure.

A node is identified by its key: `call`, `workflow`, or `type` for all others. The classes have the form of
the file, so that a specification that is written out is a workflow file again.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Discriminator, Field, Tag

from antiphon_shared.output.steps import Schema, ToolName
from antiphon_shared.values import Value
from antiphon_shared.workflows.params import Fields, Name

TEXT_MAX = 20_000
CONDITION_MAX = 2_000
YIELD_TIMEOUT_S = 604_800.0
SECONDS_MAX = 31_536_000.0

Text = Annotated[str, Field(max_length=TEXT_MAX)]
Seconds = Annotated[float, Field(gt=0, le=SECONDS_MAX)]
Args = Annotated[dict[str, Any], Field(description="Arguments by name; texts may hold references.")]
Names = Annotated[tuple[Name, ...], Field(max_length=1_000)]


def _as_condition(value: object) -> Any:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value


Condition = Annotated[
    str,
    Field(min_length=1, max_length=CONDITION_MAX, description="An expression in the syntax of CEL."),
    BeforeValidator(_as_condition, json_schema_input_type=str | bool),
]


class OnError(Value):
    """The handling of a failed node: further attempts (calls only), then a fallback node that replaces it."""

    retry: int = Field(
        default=0, ge=0, le=10, description="Further attempts after the first, in place of the contract's."
    )
    delay: int = Field(default=1_000, ge=0, le=60_000, description="Milliseconds before the first of them.")
    backoff: Literal["fixed", "linear", "exponential"] = "fixed"
    fallback: Name | None = None


class CompensateCall(Value):
    """A call that undoes something."""

    call: ToolName
    args: Args = {}
    ignore_error: bool = False


class _Described(Value):
    description: str = Field(default="", max_length=2_000)
    depends_on: Names = ()
    when: Condition | None = None


class _WithOutput(_Described):
    output: Name | None = Field(default=None, description="A further name for its result.")
    on_error: OnError | None = None
    timeout_s: Seconds | None = None


class CallNode(_WithOutput):
    """One call of a tool."""

    call: ToolName
    args: Args = {}
    compensate: CompensateCall | None = None


class WorkflowNode(_WithOutput):
    """A workflow of the same file, inlined."""

    workflow: Name
    args: Args = {}
    compensate: CompensateCall | None = None


_SCHEMA_KEYWORDS = {"$schema", "$ref", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const"}
_SCHEMA_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}


def _expects_kind(value: object) -> str:
    if not isinstance(value, Mapping):
        return "<fields>"
    type_name = value.get("type")
    is_schema = not _SCHEMA_KEYWORDS.isdisjoint(value) or (
        isinstance(type_name, str) and type_name in _SCHEMA_TYPES
    )
    return "<schema>" if is_schema else "<fields>"


class ReasonNode(_WithOutput):
    """A session inside the run: the graph decides when, the model answers."""

    type: Literal["reason"]
    question: str = Field(min_length=1, max_length=TEXT_MAX)
    instructions: Text = ""
    tools: tuple[ToolName, ...] = Field(default=(), max_length=100, description="Reads only.")
    expects: (
        Annotated[
            Annotated[Fields, Tag("<fields>")] | Annotated[Schema, Tag("<schema>")],
            Discriminator(_expects_kind),
        ]
        | None
    ) = Field(default=None, description="The shape of the answer: params by name, or a JSON Schema.")
    validation_tools: tuple[ToolName, ...] = Field(default=(), max_length=10)
    max_rounds: int = Field(default=10, ge=1, le=50)


class Arm(Value):
    """A way out of a branch: a condition and the node that it activates. Without a condition: the default."""

    when: Condition | None = None
    goto: Name


def _as_arm(value: object) -> Any:
    """Return `{default: X}`, `{default: , goto: X}` and `{default: {goto: X}}` in their full form."""
    if not isinstance(value, Mapping) or "default" not in value or "when" in value:
        return value
    others = {name: one for name, one in value.items() if name != "default"}
    match value["default"]:
        case None:
            return others
        case str() as goto if "goto" not in others:
            return {**others, "goto": goto}
        case Mapping() as inner if "goto" not in others:
            return {**others, **inner}
    return value


class _DefaultArm(Value):
    """The forms of the default in a file."""

    default: Name | Arm | None
    goto: Name | None = None


FileArm = Annotated[Arm, BeforeValidator(_as_arm, json_schema_input_type=Arm | _DefaultArm)]


class BranchNode(_WithOutput):
    """A choice: it activates the target of the first condition that is true."""

    type: Literal["branch"]
    on: tuple[FileArm, ...] = Field(min_length=1, max_length=100)


class YieldNode(_WithOutput):
    """A wait for a person's values; it fails after `timeout_s`, by default YIELD_TIMEOUT_S."""

    type: Literal["yield"]
    message: str = Field(min_length=1, max_length=TEXT_MAX)
    expects: Fields


class WaitNode(_WithOutput):
    """A wait for some seconds, or until a time."""

    type: Literal["wait"]
    seconds: Annotated[float, Field(ge=0, le=SECONDS_MAX)] | Text | None = None
    until: (
        Annotated[str, Field(max_length=TEXT_MAX, description="A date-time, or a reference to one.")] | None
    ) = None


class CompensateNode(_Described):
    """An undoing that ends its workflow; it runs only when activated."""

    type: Literal["compensate"]
    steps: tuple[CompensateCall, ...] = Field(min_length=1, max_length=1_000)


class ErrorNode(_Described):
    """A failure that ends its workflow."""

    type: Literal["error"]
    message: str = Field(min_length=1, max_length=TEXT_MAX)


def node_kind(value: object) -> str | None:
    """Return the tag of a node by its identifying key; None unless there is exactly one."""
    if isinstance(value, Value):
        value = value.__dict__
    if not isinstance(value, Mapping):
        return None
    kinds = [key for key in ("call", "workflow", "type") if key in value]
    if len(kinds) != 1:
        return None
    return f"<{value['type']}>" if kinds == ["type"] else f"<{kinds[0]}>"


ONE_KIND = "give exactly one of `call`, `workflow` and `type`"
PART_KINDS = "give a call, a workflow or a reason node"
Part = Annotated[
    Annotated[CallNode, Tag("<call>")]
    | Annotated[WorkflowNode, Tag("<workflow>")]
    | Annotated[ReasonNode, Tag("<reason>")],
    Discriminator(node_kind, custom_error_type="node_kind", custom_error_message=PART_KINDS),
]
"""The kinds of nodes inside another node."""


class ParallelNode(_WithOutput):
    """Several nodes at once."""

    type: Literal["parallel"]
    branches: dict[Name, Part] = Field(min_length=1, max_length=1_000)
    on_partial_failure: str = Field(
        default="abort", description="abort, continue, or the id of a compensate node, such as rollback_all."
    )


class ForeachNode(_WithOutput):
    """One node for each item of a list."""

    type: Literal["foreach"]
    items: str = Field(
        min_length=1, max_length=TEXT_MAX, description="A reference to a list, or range(A, B)."
    )
    as_: Name = Field(alias="as")
    step: Part
    max_iterations: int = Field(default=100, ge=1, le=10_000)
    concurrency: int = Field(default=1, ge=1, le=1_000)
    on_item_error: Literal["fail", "skip", "collect"] = "fail"


Node = Annotated[
    Annotated[CallNode, Tag("<call>")]
    | Annotated[WorkflowNode, Tag("<workflow>")]
    | Annotated[BranchNode, Tag("<branch>")]
    | Annotated[ParallelNode, Tag("<parallel>")]
    | Annotated[ForeachNode, Tag("<foreach>")]
    | Annotated[YieldNode, Tag("<yield>")]
    | Annotated[WaitNode, Tag("<wait>")]
    | Annotated[CompensateNode, Tag("<compensate>")]
    | Annotated[ErrorNode, Tag("<error>")]
    | Annotated[ReasonNode, Tag("<reason>")],
    Discriminator(node_kind, custom_error_type="node_kind", custom_error_message=ONE_KIND),
]
MODELS: dict[str, type[Value]] = {
    get_args(kind)[1].tag: get_args(kind)[0] for kind in get_args(get_args(Node)[0])
}
"""The models of nodes by their tag."""
NODE_TYPES = tuple(tag.strip("<>") for tag in MODELS if tag not in ("<call>", "<workflow>"))


STEP = "*"
"""The last part of the path of a foreach's step."""
TEMPLATE_KEYS = ("args", "message", "seconds", "until", "question", "instructions")
"""The keys of nodes whose texts may hold references; conditions, items and undoings are apart."""


def on_error_of(node: Node) -> OnError | None:
    """Return the handling of a node's failure, if the node has one."""
    return node.on_error if isinstance(node, _WithOutput) else None


def has_retries(node: Node) -> bool:
    """Return whether a node is retried after a failure."""
    on_error = on_error_of(node)
    return on_error is not None and on_error.retry > 0


def compensate_of(node: Node) -> CompensateCall | None:
    """Return the call that undoes a node."""
    return node.compensate if isinstance(node, CallNode | WorkflowNode) else None


def undoing_calls(node: Node) -> dict[tuple[str | int, ...], CompensateCall]:
    """Return the calls with which a node undoes itself or others, by their path in the node."""
    if isinstance(node, CompensateNode):
        return {("steps", number): step for number, step in enumerate(node.steps)}
    own = compensate_of(node)
    return {("compensate",): own} if own else {}


def parts(node: Node) -> dict[str, Part]:
    """Return the nodes inside a node by the last part of their path: branches by name, a foreach's step as STEP."""
    if isinstance(node, ParallelNode):
        return dict(node.branches)
    return {STEP: node.step} if isinstance(node, ForeachNode) else {}
