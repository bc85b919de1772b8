"""Steps that the operator publishes: which files are read, and which faults stop the start."""

from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.bus.session_content import SessionConflict, SessionContent
from antiphon_shared.bus.submissions import Unacceptable
from antiphon_shared.events import QuerySubmitted
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import load

from coordinator.published import read_published, with_published
from coordinator.settings import CoordinatorSettings
from tests.envelopes import an_event

ONE = "steps: [{name: find, instructions: Find it., tools: [search]}]"
OTHER = "steps: [{name: build, instructions: Build it., tools: [deploy]}]"


def a_file(folder: Path, name: str, text: str = ONE) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def an_asking(**options: Any) -> Any:
    return an_event(QuerySubmitted(query="Which?", options=QueryOptions(**options)))


def test_files_and_folders_are_read_and_named_by_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = a_file(tmp_path, "assembly.yaml")
    a_file(tmp_path / "more", "repair.v2.yml", OTHER)
    a_file(tmp_path / "more", "README.md", "no steps")
    monkeypatch.setenv("ANTIPHON_COORDINATOR_STEPS", f"{file}, {tmp_path / 'more'}, {file}")
    published = read_published(load(CoordinatorSettings).steps)
    assert {name: steps[0].name for name, steps in published.items()} == {
        "assembly": "find",
        "repair.v2": "build",
    }


def test_every_fault_of_every_file_is_named_by_line_and_column(tmp_path: Path) -> None:
    first = a_file(tmp_path, "a.yaml", "steps:\n- name: a\n  tools: []\n  outptu: 3\n  instructions: b\n")
    second = a_file(tmp_path / "b", "a.yml")
    third = a_file(tmp_path, "c d.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff")
    (tmp_path / "empty").mkdir()
    paths = [first, second, third, binary, tmp_path / "empty", tmp_path / "none.yaml"]
    with pytest.raises(ConfigurationError) as refused:
        read_published(map(str, paths))
    faults = refused.value.message.splitlines()
    assert faults[0] == "ANTIPHON_COORDINATOR_STEPS: some steps are invalid. Correct or remove them:"
    beginnings = [
        f"{tmp_path / 'empty'}: the folder contains no file that ends in .yaml or .yml",
        f"{first}: line 3, column 10: steps.0.tools",
        f"{first}: line 4, column 11: steps.0.outptu: there is no such field. Did you mean output?",
        f"{second}: {first} has the same name 'a'; rename one of them",
        f"{third}: the name must consist of",
        f"{binary}: the file is not UTF-8 text",
        f"{tmp_path / 'none.yaml'}: the file cannot be read: No such file or directory",
    ]
    assert sorted(beginnings) == sorted(
        next(one for one in beginnings if fault.startswith(one)) for fault in faults[1:]
    )


def test_a_published_name_is_replaced_by_its_steps_and_kept(tmp_path: Path) -> None:
    published = read_published([str(a_file(tmp_path, "assembly.yaml"))])
    query = with_published(an_asking(steps="assembly"), published).data
    assert isinstance(query, QuerySubmitted)
    assert query.options.steps == published["assembly"]
    assert query.steps_name == "assembly"
    given = an_asking(steps=published["assembly"])
    assert with_published(given, {}) is given


def test_an_unknown_name_is_refused_with_the_available_names(tmp_path: Path) -> None:
    published = read_published([str(a_file(tmp_path, "assembly.yaml")), str(a_file(tmp_path, "repair.yaml"))])
    with pytest.raises(
        Unacceptable, match=r"options.steps: no published steps are named 'asembly'."
    ) as refused:
        with_published(an_asking(steps="asembly"), published)
    assert refused.value.hint == "Did you mean assembly? There are: assembly, repair."


def test_the_same_name_is_the_same_session_after_the_file_changed(tmp_path: Path) -> None:
    asked = an_asking(steps="assembly")
    first = with_published(asked, read_published([str(a_file(tmp_path, "assembly.yaml"))]))
    again = with_published(asked, read_published([str(a_file(tmp_path, "assembly.yaml", OTHER))]))
    for event in (asked, again):
        SessionContent.of(event).refuse_other(first, "s1")
    with pytest.raises(SessionConflict, match="with another options"):
        SessionContent.of(an_asking(steps="repair")).refuse_other(first, "s1")
