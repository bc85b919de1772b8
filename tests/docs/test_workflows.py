"""The files of docs/workflow-files.md are valid, and so are its nodes; docs/workflows.md has graphs of today."""

import re
import textwrap
from pathlib import Path

from antiphon_shared.workflows.form import read_file
from antiphon_shared.workflows.nodes import NODE_TYPES
from antiphon_shared.workflows.validate import problems_of

from antiphon.workflows import load
from antiphon.workflows.draw import as_mermaid

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/workflow-files.md").read_text()
TUTORIAL = (ROOT / "docs/workflows.md").read_text()
HEAD = """domain: d
version: "1"
workflows:
  book_flight:
    description: F
    params: { destination: { type: str }, day: { type: str } }
    graph: { f: { call: f, args: { to: $destination, day: $day } } }
  w:
    description: W
    params:
      { place: { type: str }, start: { type: str, format: date }, nights: { type: int }, limit: { type: int },
        airlines: { type: list } }
    graph:
"""


def test_every_example_of_the_page_is_valid() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    texts = [one if one.startswith("domain:") else HEAD + textwrap.indent(one, " " * 6) for one in blocks]
    assert len(texts) == 3
    for text in texts:
        file = read_file(text, "docs/workflow-files.md")
        assert [str(one) for one in file.problems] == []
        assert file.specification is not None
        errors = [one for one in problems_of(file.specification) if one.severity == "error"]
        assert [str(file.located(one)) for one in errors] == []


def test_every_type_of_node_has_an_example() -> None:
    assert {*re.findall(r"type: (\w+)", PAGE)} >= {*NODE_TYPES}


def test_the_longer_example_exists() -> None:
    assert (ROOT / "examples/travel/workflows.yaml").exists()


def test_each_graph_is_the_output_of_the_tool_for_its_workflow(tmp_path: Path) -> None:
    (harbour,) = re.findall(r"```yaml file=harbour.yaml\n(.*?)```", TUTORIAL, re.S)
    (tmp_path / "harbour.yaml").write_text(harbour)
    files = [ROOT / "examples/travel/workflows.yaml", tmp_path / "harbour.yaml"]
    workflows = {name: one for file in files for name, one in load(file).workflows.items()}
    drawn = re.findall(r"```mermaid\n(.*?)\n```", TUTORIAL, re.S)
    names = ("weekend", "book_trip", "find_cheapest_across_dates")
    assert drawn == [as_mermaid(workflows[name]) for name in names], (
        "draw it anew: antiphon workflows graph NAME FILE --format mermaid"
    )
