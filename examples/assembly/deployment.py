"""The tools of the third step: assemble a line, deploy it, and check what was deployed."""

import hashlib
import sqlite3
from typing import Annotated

import orjson
from pydantic import BaseModel, Field

from antiphon import ToolContext, ToolFailed, tool

from . import checks
from .configuration import catalogue
from .database import DATABASE
from .discovery import known
from .lines import Checksum, Deployment, DeploymentId, Line, Problem, Receipt, Verdict, WholeLine

_FIRST_ID = 1001


class Blueprint(BaseModel):
    """A line as it would be deployed."""

    line: Line = Field(description="The line, defaults filled in.")
    drawing: str = Field(description="Its components in order, such as schedule -> water_gauge.")
    checksum: Checksum


class Estimate(BaseModel):
    """The cost of a line."""

    euro_per_month: float


@tool(effect="read", mode="parallel-safe", example={"line": Line.__example__})
def assemble(line: WholeLine) -> Blueprint:
    """Connect the components of a line and fill in defaults. Nothing is deployed."""
    whole = checks.with_defaults(line, catalogue())
    drawing = " -> ".join(part.component for part in whole.parts)
    return Blueprint(line=whole, drawing=drawing, checksum=checksum_of(whole))


@tool(effect="read", mode="parallel-safe", example={"line": Line.__example__})
def estimate_cost(line: WholeLine) -> Estimate:
    """Add up what the components of a line cost in a month."""
    return Estimate(euro_per_month=sum(known(part.component).euro_per_month for part in line.parts))


@tool(
    effect="write",
    mode="sequential-only",
    idempotent=True,
    timeout_s=10,
    example={"line": Line.__example__},
)
def deploy(line: WholeLine, context: ToolContext) -> Deployment:
    """Deploy a line. It begins to run at once; a line of the same name gets a new version."""
    components = catalogue()
    whole = checks.with_defaults(line, components)
    errors = checks.problems(whole, components)
    reason = f"{errors[0].property}: {errors[0].message}" if errors else None
    with DATABASE.writing() as connection:
        command = "SELECT * FROM deployments WHERE key = ?"
        if not connection.execute(command, (context.idempotency_key,)).fetchone():
            _insert(connection, context.idempotency_key, whole, reason)
        return _deployment(connection.execute(command, (context.idempotency_key,)).fetchone())


@tool(effect="read", mode="parallel-safe", example={"deployment": "D-1001"})
def get_deployment(deployment: DeploymentId) -> Deployment:
    """Look a deployment up."""
    if found := deployed(deployment):
        return found
    raise ToolFailed("not_found", f"There is no deployment {deployment}.", "Deploy the line with deploy.")


@tool(effect="read", mode="parallel-safe", validates="receipt", example={"receipt": Receipt.__example__})
def verify_deployment(
    receipt: Annotated[Receipt, Field(description="The receipt, exactly as it will be returned.")],
) -> Verdict:
    """Check that a deployment exists, has this checksum, and runs."""
    found = deployed(receipt.deployment)
    if found is None:
        errors = [Problem(property="deployment", message=f"There is no deployment {receipt.deployment}")]
    elif found.checksum != receipt.checksum:
        errors = [Problem(property="checksum", message=f"The line that was deployed has {found.checksum}")]
    elif found.reason is not None:
        errors = [Problem(property="deployment", message=f"It is broken: {found.reason}")]
    else:
        errors = []
    return Verdict.of(errors)


def deployed(deployment: str) -> Deployment | None:
    """Return the deployment of that id."""
    with DATABASE.reading() as connection:
        row = connection.execute(
            "SELECT * FROM deployments WHERE id = ?", (int(deployment.removeprefix("D-")),)
        ).fetchone()
    return _deployment(row) if row else None


def checksum_of(line: Line) -> str:
    """Return the checksum of a line: 12 hex digits of the SHA-256 of its canonical JSON."""
    return hashlib.sha256(_canonical(line).encode()).hexdigest()[:12]


def _insert(connection: sqlite3.Connection, key: str, line: Line, reason: str | None) -> None:
    connection.execute(
        "INSERT INTO deployments"
        " SELECT coalesce(max(id) + 1, :first_id), :key, :name,"
        "  1 + (SELECT count(*) FROM deployments WHERE name = :name), :line, :checksum, :reason FROM deployments",
        {
            "first_id": _FIRST_ID,
            "key": key,
            "name": line.name,
            "line": _canonical(line),
            "checksum": checksum_of(line),
            "reason": reason,
        },
    )


def _canonical(line: Line) -> str:
    return orjson.dumps(line.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS).decode()


def _deployment(row: sqlite3.Row) -> Deployment:
    return Deployment(
        deployment=f"D-{row['id']}",
        checksum=row["checksum"],
        name=row["name"],
        version=row["version"],
        status="broken" if row["reason"] else "running",
        reason=row["reason"],
    )
