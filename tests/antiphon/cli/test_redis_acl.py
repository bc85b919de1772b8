"""`antiphon redis acl`: the file on stdout, the passwords once on stderr."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

from antiphon.redis_rules import USERS
from tests.antiphon.conftest import InProcess


def test_the_file_holds_hashes_of_the_passwords_that_are_shown_once(run: InProcess) -> None:
    result = run("redis", "acl", ANTIPHON_NAMESPACE="acme", ANTIPHON_REDIS_URL="redis://localhost:6379/2")
    shown = dict(re.findall(r"redis://(\w+):([\w-]+)@HOST:PORT/2", result.stderr))
    assert (result.exit_code, tuple(shown)) == (0, USERS)
    lines = {line.split()[1]: line for line in result.stdout.splitlines()}
    for user, password in shown.items():
        assert f"on #{sha256(password.encode()).hexdigest()} " in lines[user]
        assert password not in result.stdout
        assert "+select" in lines[user]
    assert "~acme:{0}:" in lines["coordinator"]
    assert "~antiphon:" not in result.stdout


def test_passwords_are_those_of_a_file_and_the_others_are_drawn(run: InProcess, folder: Path) -> None:
    (folder / "passwords").write_text("# ours\nclient=hunter2\n\n")
    result = run(
        "redis", "acl", "--passwords", "passwords", "--component", "client", "--component", "operator"
    )
    assert result.exit_code == 0
    assert sha256(b"hunter2").hexdigest() in result.stdout
    assert "hunter2" not in result.output
    assert [line.split()[1] for line in result.stdout.splitlines()] == ["default", "client", "operator"]
    assert re.findall(r"^(\w+): redis", result.stderr, re.M) == ["operator"]


def test_users_without_passwords_are_created_for_tests_with_a_warning(run: InProcess) -> None:
    result = run("redis", "acl", "--nopass-for-tests")
    assert result.stdout.count(" nopass ") == len(USERS)
    assert "Anyone who can connect" in result.stderr


@pytest.mark.parametrize(
    ("content", "line"), [("somebody=secret", 1), ("client", 1), ("client=", 1), ("client=a\nclient=b", 2)]
)
def test_an_invalid_password_line_is_refused_without_quoting_it(
    run: InProcess, folder: Path, content: str, line: int
) -> None:
    (folder / "passwords").write_text(content)
    result = run.refused("redis", "acl", "--passwords", "passwords")
    assert f"line {line}" in result
    assert "secret" not in result


def test_invalid_options_are_refused(run: InProcess) -> None:
    for arguments in (
        ("--component", "nobody"),
        ("--passwords", "missing"),
        ("--passwords", "missing", "--nopass-for-tests"),
    ):
        result = run("redis", "acl", *arguments)
        assert (result.exit_code, result.stdout) == (2, ""), arguments
