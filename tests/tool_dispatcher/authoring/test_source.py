"""An error about a tool says in which file and line the fault is written."""

from pathlib import Path

import pytest
from antiphon_shared.process.errors import ConfigurationError

from tool_dispatcher.catalogue import load_tools

HEAD = "from antiphon import Alternative, Tool, Toolset, tool\n"
FIND = '\ndef find(words: str):\n    "F."\n'
FAULTS = [
    ("hint", '@tool(effect="read")\ndef find(words):\n    "F."\n', ":3: parameter 'words' needs a type hint"),
    ("later", '@tool(effect="read")\ndef find(\n    a: int,\n    *words,\n):\n    "F."\n', ":5: it takes \\*words"),
    ("type", '@tool(effect="read")\ndef find(\n a: int, b: type):\n    "F."\n', ":4: the type of parameter 'b'"),
    ("bare", '@tool' + FIND, ":3: its effect is missing"),
    ("empty", '@tool()' + FIND, ":3: its effect is missing"),
    ("typo", '@tool(efect="read")' + FIND, ":3: option 'efect'.*mean effect\\? The options are: effect, "),
    ("option", '@tool(effect="read", timeout=3)' + FIND, ":3: option 'timeout'.*timeout_s"),
    ("value", '@tool(effect="read", timeout_s="3")' + FIND, ":3: its timeout_s is '3'"),
    ("described", '@tool(effect="read")\ndef find(words: str): ...\n', ":3: .*docstring"),
    ("related", '@tool(effect="read", alternatives="look")' + FIND, ":3: its alternatives names 'look'"),
    ("schema", 'def run(a, c): ...\n\nTool("t", "T.", {"type": "text"}, run, effect="read")\n', ":2: its parameters"),
    ("added", "desk = Toolset()\n\n\ndesk.add(3)\n", ":5: it is not a tool"),
    ("raises", "\nimport json\njson.loads('{')\n", ":4: JSONDecodeError"),
    ("syntax", "def find(:\n", ":2: SyntaxError: invalid syntax"),
    ("needs", "import no_such_library\n", ":2: ModuleNotFoundError: .*Install no_such_library"),
]  # fmt: skip  # a table


@pytest.mark.parametrize(("name", "text", "why"), FAULTS, ids=[name for name, _, _ in FAULTS])
def test_the_file_and_line_of_a_fault_are_named(
    name: str, text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"faulty_{name}.py").write_text(HEAD + text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigurationError, match=f"(?s)faulty_{name}\\.py{why}"):
        load_tools(f"faulty_{name}")


def test_a_misspelt_module_is_refused_with_the_nearest_in_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_tools.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=r"module 'my_tols'.*Did you mean my_tools\?"):
        load_tools("my_tols")
    with pytest.raises(ConfigurationError, match=r"Did you mean antiphon\.examples\.nothing\?"):
        load_tools("examples.nothing")


def test_a_module_that_hides_the_one_that_was_meant_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "calendar.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ConfigurationError, match=r"calendar is .*calendar\.py, not the calendar\.py of the current"
    ):
        load_tools("calendar")
