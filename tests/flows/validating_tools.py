"""Tools that validate a plan for a harbour, and one that looks something up."""

from typing import Any

from antiphon import tool


@tool(effect="read", validates="plan")
def validate_minimal(plan: dict[str, Any]) -> dict[str, Any]:
    """Check that a plan has what it needs."""
    missing = [name for name in ("harbour", "berths") if name not in plan]
    errors = [{"property": name, "message": f"Required field '{name}' is missing"} for name in missing]
    return {"valid": not errors, "errors": errors}


@tool(effect="read", validates="plan")
def validate_full(plan: dict[str, Any]) -> dict[str, Any]:
    """Check a plan against the harbour itself."""
    if plan.get("harbour") != "Skagen":
        raise ValueError("there is no such harbour")
    if plan.get("berths") == 14:
        return {"valid": True}
    return {"valid": False, "errors": [{"property": "berths", "message": "There are 14 of them"}]}


@tool(effect="read")
def count_berths(harbour: str) -> int:
    """Count the berths of a harbour."""
    return 14
