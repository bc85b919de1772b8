"""The values that the tools exchange: components with their settings, lines of components, deployments."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["trigger", "source", "filter", "action"]
KINDS: dict[Kind, str] = {
    "trigger": "Says when a line runs. A line begins with one.",
    "source": "Reads a value. A line has one, behind its trigger.",
    "filter": "Lets a value pass, or changes it. Any number, behind the source.",
    "action": "Does something with a value. A line ends with one or more.",
}

ComponentName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]{1,39}$", description="Name of a component, such as water_gauge.")
]
LineName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9-]{2,39}$", description="Name of the line, such as skagen-high-water."),
]
DeploymentId = Annotated[
    str, Field(pattern=r"^D-[1-9][0-9]{3,8}$", description="Id of a deployment, such as D-1001.")
]
Checksum = Annotated[
    str, Field(pattern=r"^[0-9a-f]{12}$", description="Checksum of a line, as assemble returns it.")
]


class Setting(BaseModel):
    """A setting that a component takes."""

    name: str
    type: Literal["string", "integer", "number", "boolean"]
    description: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    pattern: str | None = None
    minimum: float | None = None
    maximum: float | None = None


class Component(BaseModel):
    """A component of the catalogue."""

    component: str
    kind: Kind
    summary: str
    euro_per_month: float


class ComponentDetails(Component):
    """A component with its settings."""

    settings: tuple[Setting, ...]


class Part(BaseModel):
    """A component in its place in a line, with its settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    component: ComponentName
    settings: dict[str, Any] = Field(default={}, description="Values of the component's settings, by name.")


class Line(BaseModel):
    """A line of components, in the order in which a value passes them."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    __example__: ClassVar[dict[str, Any]] = {
        "name": "skagen-high-water",
        "parts": [
            {"component": "schedule", "settings": {"every_minutes": 10}},
            {"component": "water_gauge", "settings": {"station": "Skagen"}},
            {"component": "threshold", "settings": {"limit": 2.5}},
            {"component": "chat_message", "settings": {"channel": "#harbour"}},
        ],
    }

    name: LineName
    parts: list[Part] = Field(min_length=1, max_length=20)


WholeLine = Annotated[Line, Field(description="The whole line: its name, and its parts in order.")]


class Problem(BaseModel):
    """A fault in one property of a line or a receipt."""

    property: str
    message: str


class Verdict(BaseModel):
    """The result of a validation."""

    valid: bool
    errors: list[Problem]

    @classmethod
    def of(cls, errors: list[Problem]) -> "Verdict":
        return cls(valid=not errors, errors=errors)


class Receipt(BaseModel):
    """A deployment as it is reported to the person who asked for it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    __example__: ClassVar[dict[str, Any]] = {"deployment": "D-1001", "checksum": "0f343b0931a1"}

    deployment: DeploymentId
    checksum: Checksum


class Deployment(Receipt):
    """A line that was deployed."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str
    version: int = Field(description="Counts up with every deployment of one name.")
    status: Literal["running", "broken"]
    reason: str | None = Field(default=None, description="Why a line is broken.")
