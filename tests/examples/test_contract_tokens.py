"""The tokens of a contract in words and as JSON: the numbers in docs/tools.md are those of the examples."""

from pathlib import Path

import pytest
from antiphon_shared.text.tokens import estimate_tokens
from pydantic_core import to_json

from tests.examples.test_contracts import PACKAGES
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.catalogue import load_tools

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text()


def costs(tool: Tool) -> tuple[int, int, int]:
    """Return the tokens of the hints, of the contract as JSON without its defaults, and of all of it."""
    hints = estimate_tokens(tool.definition.description) - estimate_tokens(tool.description)
    short = to_json(tool.contract.model_dump(mode="json", exclude_defaults=True)).decode()
    return hints, estimate_tokens(short), estimate_tokens(to_json(tool.contract.as_keyword()).decode())


def row(name: str, tools: list[Tool]) -> str:
    hints, short, whole = (sum(cost) for cost in zip(*map(costs, tools), strict=True))
    return f"| {name} | {len(tools)} | {hints} | {short} | {whole} |"


def test_the_page_shows_the_token_costs_of_the_examples() -> None:
    tools = {package: list(load_tools(f"examples.{package}").values()) for package in PACKAGES}
    rows = [row(f"`{package}`", made) for package, made in tools.items()]
    rows.append(row("all", [tool for made in tools.values() for tool in made]))
    assert "\n".join(rows) in PAGE, "write the table anew:\n" + "\n".join(rows)


@pytest.mark.parametrize("package", PACKAGES)
def test_hints_are_cheaper_than_the_contract_in_any_form(package: str) -> None:
    for tool in load_tools(f"examples.{package}").values():
        hints, short, whole = costs(tool)
        assert hints < short < whole
