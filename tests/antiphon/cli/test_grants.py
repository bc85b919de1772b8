"""`antiphon grants`: keys, tokens, and the claims of a token."""

import json
from pathlib import Path

import pytest

from tests.antiphon.conftest import InProcess

PRIVATE, PUBLIC = "keys/grant-signing-key.pem", "keys/grant-public-key.pem"


@pytest.fixture
def issued(run: InProcess) -> str:
    """Return a grant by new keys in `keys/`."""
    assert run("grants", "keygen", "keys").exit_code == 0
    result = run(
        "grants", "issue", "--key", PRIVATE, "--scope", "read", "--scope", "write", "--tenant", "acme"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.strip()


def test_keygen_writes_the_keys_and_prints_the_next_step(run: InProcess, folder: Path) -> None:
    result = run("grants", "keygen", "keys")
    assert result.exit_code == 0
    assert PRIVATE in result.stdout
    assert f"ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE={folder / PUBLIC}" in result.stderr
    assert (folder / PRIVATE).read_text().startswith("-----BEGIN PRIVATE KEY-----")
    assert "PRIVATE KEY" not in result.output


def test_the_folder_may_be_an_option(run: InProcess, folder: Path) -> None:
    result = run("grants", "keygen", "--out", "keys", "--json")
    assert json.loads(result.stdout) == {"private": PRIVATE, "public": PUBLIC}


def test_keys_are_not_overwritten(run: InProcess, folder: Path) -> None:
    run("grants", "keygen", "keys")
    before = (folder / PRIVATE).read_bytes()
    assert "already exist" in run.refused("grants", "keygen", "keys")
    assert (folder / PRIVATE).read_bytes() == before


def test_a_token_alone_is_on_stdout(issued: str) -> None:
    assert issued.count(".") == 2
    assert " " not in issued


def test_a_grant_is_shown_and_verified(run: InProcess, issued: str) -> None:
    result = run("grants", "show", issued, "--key", PUBLIC)
    assert result.exit_code == 0
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:]] == [
        ["tenant", "acme"],
        ["scopes", "read,"],
        ["session", "any"],
        ["expires", result.stdout.split("expires")[1].split()[0]],
        ["verified", "yes"],
    ]


def test_output_without_a_key_states_that_nothing_was_verified(run: InProcess, issued: str) -> None:
    result = run("grants", "show", issued)
    assert result.exit_code == 0
    assert "not checked: --key is missing" in result.stdout
    assert run.json("grants", "show", issued)["verified"] is None


def test_a_grant_by_another_key_is_not_genuine(run: InProcess, issued: str) -> None:
    run("grants", "keygen", "others")
    result = run("grants", "show", issued, "--key", "others/grant-public-key.pem")
    assert result.exit_code == 1
    assert "no: it was not signed by a key that is trusted" in result.stdout


def test_a_grant_is_read_from_a_file(run: InProcess, issued: str, folder: Path) -> None:
    (folder / "token").write_text(f"{issued}\n")
    document = run.json("grants", "show", "@token", "--key", PUBLIC)
    assert (document["scopes"], document["tenant"], document["session"], document["verified"]) == (
        ["read", "write"],
        "acme",
        None,
        True,
    )
    assert run("grants", "show", "@none").exit_code == 2


def test_a_text_that_is_not_a_grant_is_refused_as_unreadable(run: InProcess) -> None:
    result = run("grants", "show", "hello")
    assert result.exit_code == 3
    assert "cannot be read: it is not a signed JSON Web Token" in result.stderr


def test_the_private_key_is_not_taken_for_verifying(run: InProcess, issued: str) -> None:
    assert "contains a private key" in run.refused("grants", "show", issued, "--key", PRIVATE)


def test_a_grant_that_allows_nothing_is_remarked_upon(run: InProcess, issued: str) -> None:
    result = run("grants", "issue", "--key", PRIVATE, "--scope", "crm")
    assert result.exit_code == 0
    assert "it allows no tool" in result.stderr


def test_a_private_key_that_others_can_read_is_remarked_upon(
    run: InProcess, issued: str, folder: Path
) -> None:
    (folder / PRIVATE).chmod(0o644)
    assert "chmod 600" in run("grants", "issue", "--key", PRIVATE, "--scope", "read").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--scope", "no spaces"],
        ["--scope", "read", "--tenant", "a/b"],
        ["--scope", "read", "--session", "no spaces"],
        ["--scope", "read", "--expires-s", "0"],
        [],
    ],
)
def test_an_invalid_grant_request_is_refused(run: InProcess, issued: str, arguments: list[str]) -> None:
    result = run("grants", "issue", "--key", PRIVATE, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
