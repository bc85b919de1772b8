"""The examples together use every option of a contract, and need only the public interface."""

import ast
from pathlib import Path
from typing import get_args

import pytest
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import CONTRACT_KEYWORD, Contract, ErrorPropagation, Mode
from jsonschema import Draft202012Validator

import examples
from antiphon import Tool
from tests.rows import each_row
from tool_dispatcher.authoring.validate import validate
from tool_dispatcher.catalogue import load_tools

PACKAGES = ("assembly", "courses", "crm", "documents", "travel", "weather", "webhooks")
TOOLS = load_tools(",".join(f"examples.{package}" for package in PACKAGES))
CONTRACTS = [tool.contract for tool in TOOLS.values()]
SOURCES = sorted(Path(examples.__path__[0]).rglob("*.py"))


def test_every_mode_is_shown() -> None:
    assert {contract.mode for contract in CONTRACTS} == set(get_args(Mode))
    assert {contract.error_propagation for contract in CONTRACTS} == set(get_args(ErrorPropagation))


@each_row("option", Contract.model_fields)
def test_every_option_is_used(option: str) -> None:
    """The value must differ from the default."""
    plain = Contract(effect="read")
    assert any(getattr(contract, option) != getattr(plain, option) for contract in CONTRACTS)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_example_is_complete_by_itself(package: str) -> None:
    """Tools that a contract names exist, in the same example."""
    assert len(load_tools(f"examples.{package}")) >= 1


@pytest.mark.parametrize("package", PACKAGES)
def test_each_example_documents_how_to_run_it(package: str) -> None:
    module = (Path(examples.__path__[0]) / package / "__init__.py").read_text()
    assert f"--tools examples.{package}" in module
    assert f"    {package} " in (examples.__doc__ or "")


@each_row("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_each_tool_is_published_with_its_contract_and_an_example(tool: Tool) -> None:
    schema = tool.definition.input_schema
    Draft202012Validator.check_schema(schema)
    assert Contract.of_schema(schema, tool.effect) == tool.contract
    assert CONTRACT_KEYWORD in schema
    assert tool.example is not None
    assert not isinstance(validate(tool, tool.example), ToolError)
    refused = validate(tool, {**tool.example, "no_such_parameter": 1})
    assert isinstance(refused, ToolError)
    assert refused.suggested_action


@each_row("path", SOURCES, ids=lambda path: "/".join(path.parts[-2:]))
def test_an_example_imports_only_the_public_package(path: Path) -> None:
    """An example imports no package of ours but `antiphon`."""
    tree = ast.parse(path.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = (
        "coordinator",
        "reasoning_engine",
        "tool_dispatcher",
        "context_synthesizer",
        "response_assembler",
        "shared",
    )
    assert [name for name in names if name.split(".")[0] in ours or name.startswith("antiphon.")] == []
