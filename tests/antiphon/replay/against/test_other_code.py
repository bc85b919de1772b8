"""The sources of the other code: git, or a released version."""

import zipfile
from pathlib import Path

import pytest
from antiphon_shared.process.errors import ConfigurationError

from antiphon.replay.against import trees
from antiphon.replay.against.other_code import other_code
from antiphon.replay.against.other_reports import OtherCodeFailed, verifying
from antiphon.replay.against.trees import NotInHistory, commit_of


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "antiphon"


@pytest.fixture
def head() -> str:
    try:
        return commit_of("HEAD")
    except NotInHistory as error:
        pytest.skip(str(error))


def test_the_source_of_a_ref_is_extracted_once_and_named_by_its_commit(head: str, cache: Path) -> None:
    first = other_code("HEAD")
    assert (first.commit, first.label) == (head, f"HEAD ({head[:7]})")
    assert (first.root / "antiphon" / "__init__.py").is_file()
    (first.root / "marked").touch()
    assert (other_code("HEAD").root / "marked").exists()
    assert [one.name for one in (cache / "sources").iterdir()] == [head]


def test_an_unknown_ref_is_refused_with_the_accepted_kinds(head: str) -> None:
    with pytest.raises(ConfigurationError, match="does not contain no/such-ref") as refused:
        other_code("no/such-ref")
    assert "a branch, a tag, or a released version" in str(refused.value)


def test_missing_git_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="git is not on PATH"):
        other_code("main")


def test_code_that_no_repository_holds_has_no_refs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(trees, "ROOT", tmp_path)
    with pytest.raises(ConfigurationError, match="is not in a git repository"):
        other_code("main")


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder that serves one release, which prints its requests."""
    folder = tmp_path / "index"
    folder.mkdir()
    about = "antiphon-9.8.7.dist-info"
    with zipfile.ZipFile(folder / "antiphon-9.8.7-py3-none-any.whl", "w") as wheel:
        wheel.writestr("antiphon/__init__.py", "")
        wheel.writestr("antiphon/__main__.py", MAIN)
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: antiphon\nVersion: 9.8.7\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    for installer in ("PIP", "UV"):
        monkeypatch.setenv(f"{installer}_NO_INDEX", "1")
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(folder))
    return folder


MAIN = """
import json, sys
paths = sys.argv[sys.argv.index("--") + 1 :]
print(json.dumps({"recordings": [{"path": one, "result": "same"} for one in paths]}))
"""


def test_a_released_version_runs_in_its_own_environment(index: Path) -> None:
    code = other_code("9.8.7")
    assert code.label == "antiphon 9.8.7"
    with verifying(code, [Path("a.jsonl"), Path("-b.jsonl")], jobs=2) as batches:
        assert [one.path for batch in batches for one in batch.result()] == ["a.jsonl", "-b.jsonl"]


def test_a_missing_version_is_refused_with_the_message_of_the_installer(index: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"antiphon 1\.2\.3 cannot be installed: .*1\.2\.3"):
        other_code("1.2.3")


def test_a_release_that_cannot_verify_is_named_with_its_message(index: Path, cache: Path) -> None:
    code = other_code("9.8.7")
    (code.root / "antiphon" / "__main__.py").write_text("import sys; sys.exit('No such command: verify')")
    with (
        verifying(code, [Path("a.jsonl")]) as batches,
        pytest.raises(
            OtherCodeFailed, match=r"antiphon 9\.8\.7 cannot verify recordings here: No such command"
        ),
    ):
        batches[0].result()
