"""`antiphon grants`: keys, and the permissions of sessions."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from antiphon_shared.events.client import GRANT_LENGTH_MAX
from antiphon_shared.process.clock import utc_now
from antiphon_shared.tools.grants import Claims, UnreadableGrant, read_claims
from antiphon_shared.values import DEFAULT_TENANT

from antiphon.cli.input_files import read_grant
from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_UNREADABLE,
    Json,
    UsageError,
    command,
    print_json,
    print_table,
    stderr,
    write,
)
from antiphon.grants import EXPIRES_S_MAX, is_open_to_others, issue, load_signing_key, make_key_pair

app = typer.Typer(no_args_is_help=True, help="Create and inspect grants: signed permissions of a session.")


@app.command()
@command
async def keygen(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The directory of the two key files.")
    ] = Path(),
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The same as DIR, as an option.")] = None,
    json: Json = False,
) -> None:
    """Generate a pair of Ed25519 keys: one signs grants, the other verifies them. Existing files are kept.

    Keep the private key where grants are issued; give the public key to coordinators and dispatchers.

    \b
    antiphon grants keygen keys/
    """
    pair = make_key_pair(out or folder)
    if json:
        print_json({"private": str(pair.private), "public": str(pair.public)})
        return
    rows = [
        (pair.private, "signs; keep it secret"),
        (pair.public, "verifies; for coordinators and dispatchers"),
    ]
    print_table(("file", "purpose"), rows, "")
    stderr().print(f"Coordinators: ANTIPHON_COORDINATOR_GRANT_KEY_FILE={pair.public.absolute()}")
    stderr().print(f"Dispatchers: ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE={pair.public.absolute()}")


@app.command("issue")
@command
async def issue_grant(
    key: Annotated[Path, typer.Option(metavar="FILE", help="The private key.")],
    scope: Annotated[
        list[str],
        typer.Option(
            metavar="SCOPE", help="A permission: read, write, or a scope that a tool defines. Repeatable."
        ),
    ],
    tenant: Annotated[str, typer.Option(help="The user on whose behalf the session runs.")] = DEFAULT_TENANT,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Restrict the grant to this session.")
    ] = None,
    expires_s: Annotated[
        int, typer.Option(min=1, max=EXPIRES_S_MAX, help="The time until the grant expires.")
    ] = 3_600,
    json: Json = False,
) -> None:
    """Sign a grant and print it. Anyone who has the grant can use it: protect it like a password.

    \b
    antiphon grants issue --key keys/grant-signing-key.pem --scope read --scope write
    """
    signing_key = load_signing_key(key)
    if is_open_to_others(key):
        stderr().print(f"Other users can read {key}. Run `chmod 600 {key}`.", style="yellow")
    if not {"read", "write"} & set(scope):
        stderr().print("The grant contains neither `read` nor `write`, so it allows no tool.", style="yellow")
    token = issue(signing_key, scope, utc_now(), tenant=tenant, session=session, expires_s=expires_s)
    if json:
        print_json({"grant": token, **_claims_as_json(read_claims(token))})
    else:
        write(f"{token}\n")


@app.command()
@command
async def show(
    token: Annotated[
        str,
        typer.Argument(metavar="TOKEN|@FILE|-", help="The grant, a file that contains it, or - for stdin."),
    ],
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The public key to verify it with.")
    ] = None,
    json: Json = False,
) -> int:
    """Show the content of a grant, and check its signature and expiry.

    Exit codes: 0 valid, or not checked without --key; 1 not genuine, or expired; 2 usage error; 3 unreadable.
    """
    grant = _token(token)
    try:
        claims = read_claims(grant)
    except UnreadableGrant as error:
        stderr().print(f"antiphon: the grant cannot be read: {error}", style="red")
        return EXIT_UNREADABLE
    is_over = claims.expires <= utc_now()
    verified = _verified(grant, key) if key is not None else "not checked: --key is missing"
    if json:
        print_json(
            {
                **_claims_as_json(claims),
                "is_over": is_over,
                "verified": None if key is None else verified == "yes",
            }
        )
    else:
        rows = [
            ("tenant", claims.tenant),
            ("scopes", ", ".join(claims.scopes)),
            ("session", claims.session or "any"),
            ("expires", f"{claims.expires:%Y-%m-%d %H:%M:%S} UTC{', over' if is_over else ''}"),
            ("verified", verified),
        ]
        print_table(("claim", "value"), rows, "")
    return EXIT_FAILED if is_over or (key is not None and verified != "yes") else EXIT_DONE


def _token(option: str) -> str:
    """Return the token from the argument, a file or stdin. Raises UsageError without one, and as `text_of`."""
    content = sys.stdin.read(GRANT_LENGTH_MAX * 2) if option == "-" else read_grant(option)
    if not content.strip():
        raise UsageError("no grant was given.", hint="Pass the token, @FILE, or - for stdin.")
    return content.strip()


def _verified(token: str, key: Path) -> str:
    """Return `yes`, or the reason for no. Raises ConfigurationError when the file holds no public key."""
    # Only this checks more than the form of the claims.
    from antiphon_shared.tools.grant_keys import load_keys
    from antiphon_shared.tools.grant_verifier import GrantRefused, genuine

    try:
        genuine(token, load_keys(str(key), "--key"))
    except GrantRefused as refusal:
        return f"no: it {refusal.message}"
    return "yes"


def _claims_as_json(claims: Claims) -> dict[str, Any]:
    """Return the claims of a grant, for programs."""
    return {
        "tenant": claims.tenant,
        "scopes": claims.scopes,
        "session": claims.session or None,
        "expires": claims.expires.isoformat(),
    }
