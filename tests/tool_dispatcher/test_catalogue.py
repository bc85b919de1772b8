"""Loading tools by name, and publishing their contracts."""

from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import Catalogue

from tests.rows import each_row
from tests.tool_dispatcher.builders import Ledger, a_tool
from tests.tool_dispatcher.toolboxes import library
from tool_dispatcher.authoring.tool import InvalidTool
from tool_dispatcher.catalogue import Registry, load_tools, to_catalogue, tools_of

BOXES = "tests.tool_dispatcher.toolboxes"


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("", set()),
        (" , ", set()),
        (f"{BOXES}.library", {"find_book", "borrow", "give_back"}),
        (f" {BOXES}.library , {BOXES}.postponed,", {"find_book", "borrow", "give_back", "later"}),
        (f"{BOXES}.library:toolset", {"borrow", "give_back"}),
        (f"{BOXES}.library:find_book,{BOXES}.library", {"find_book", "borrow", "give_back"}),
    ],
)
def test_modules_and_attributes_contribute_their_tools(spec: str, names: set[str]) -> None:
    assert set(load_tools(spec)) == names


@each_row(
    ("spec", "why"),
    [
        (
            "no_such_module_here",
            "no_such_module_here cannot be imported: module .* is not installed.*PYTHONPATH",
        ),
        (f"{BOXES}.broken", r"broken cannot be imported: .*broken\.py:\d+: SystemExit: no licence"),
        (f"{BOXES}.empty", r"empty .*has no tool at its top level.*@tool\(effect"),
        (f"{BOXES}.library:nothing", "names 'nothing', which.*after the colon"),
        (f"{BOXES}.library:", "names '', which"),
        (f"{BOXES}.library:not_a_tool", "library:not_a_tool is an int, not a tool.*Decorate"),
        (f"{BOXES}.library:_borrow", "is a function, not a tool.*Decorate"),
        (
            f"{BOXES}.library,{BOXES}.namesake",
            "library and .*namesake both have a tool named 'find_book'.*name=",
        ),
        ("./tools.py", "'./tools.py' is not `package.module`.*such as tools, not a path"),
        ("my_tools.py", "'my_tools.py' is not `package.module`.*such as my_tools, not a path"),
        ("tools:a:b", "cannot be imported|nothing called"),
        (":desk", "is not `package.module`"),
        ("..relative", "is not `package.module`"),
    ],
)
def test_a_module_that_cannot_be_loaded_is_named_with_the_fix(spec: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=f"(?s)tools: .*{why}"):
        load_tools(spec)


def test_the_catalogue_does_not_depend_on_the_order_of_tools() -> None:
    ledger = Ledger()
    tools = [ledger.tool("b"), ledger.tool("a", "write"), ledger.tool("c")]
    catalogue = to_catalogue(Registry(tools))
    assert catalogue == to_catalogue(Registry(reversed(tools)))
    assert [(entry.name, entry.effect) for entry in catalogue.tools] == [
        ("a", "write"),
        ("b", "read"),
        ("c", "read"),
    ]
    assert catalogue.model_dump_json() == to_catalogue(Registry(reversed(tools))).model_dump_json()


def test_a_registry_takes_tools_and_toolsets_and_refuses_namesakes() -> None:
    assert set(Registry([library.find_book, library.toolset])) == {"find_book", "borrow", "give_back"}
    with pytest.raises(ConfigurationError, match="Two tools are named 'find_book'"):
        Registry([library.find_book, Ledger().tool("find_book")])


def test_the_catalogue_contains_the_rules_of_the_operator() -> None:
    ledger = Ledger()
    tools = Registry([ledger.tool("look"), ledger.tool("note", "write")])
    catalogue = to_catalogue(
        tools,
        default_scopes=("write", "read"),
        approval=lambda one: "always" if one.effect == "write" else "never",
    )
    assert catalogue.default_scopes == ("read", "write")
    assert {one.name: one.approval for one in catalogue.tools} == {"look": "never", "note": "always"}
    assert to_catalogue(tools).default_scopes == ("read",)


def test_contracts_can_be_read_from_a_catalogue_that_travelled() -> None:
    options: dict[str, Any] = {"retry": 5, "rounds": [1], "next": ["b"]}
    registry = Registry([a_tool("a", print, "write", **options), a_tool("b", print)])
    travelled = Catalogue.model_validate_json(to_catalogue(registry).model_dump_json())
    assert {name: one.contract for name, one in travelled.by_name.items()} == {
        name: one.contract for name, one in registry.items()
    }


def test_references_between_tools_are_checked_when_all_are_registered() -> None:
    needy = a_tool("needy", print, depends_on="look")
    with pytest.raises(InvalidTool, match=r"'needy'.*'look'.*not among the tools"):
        Registry([needy])
    assert set(Registry([needy, a_tool("look", print)])) == {"needy", "look"}


def test_a_tool_with_the_name_of_a_built_in_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = (
        "from antiphon import tool\n\n\n@tool(effect='read')\ndef recall(word: str) -> str:\n    'Recall.'\n"
    )
    (tmp_path / "remembering.py").write_text(f"{own}    return word\n")
    monkeypatch.syspath_prepend(tmp_path)
    refusal = r"remembering\.py:5: its name is that of a built-in tool \(tool 'recall'\)"
    with pytest.raises(InvalidTool, match=refusal):
        load_tools("remembering")
    with pytest.raises(InvalidTool, match="its name is that of a built-in tool"):
        Registry([a_tool("recall", print), a_tool("recall", repr)])


def test_a_tool_module_can_be_loaded_before_the_tools_it_refers_to() -> None:
    assert {one.name for one in tools_of(f"{BOXES}.reader")} == {"read_book"}
    with pytest.raises(InvalidTool, match=r"'find_book'.*'read_book'"):
        load_tools(f"{BOXES}.reader")
    assert "read_book" in load_tools(f"{BOXES}.reader,{BOXES}.library")
