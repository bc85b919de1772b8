"""`antiphon redis`: the configuration of a deployment's Redis."""

from pathlib import Path
from typing import Annotated

import typer
from antiphon_shared.bus.address import DEFAULT_URL, form_for, parse
from antiphon_shared.bus.keys import Keys
from antiphon_shared.process.ids import new_password
from antiphon_shared.process.settings import PipelineSettings, load

from antiphon.cli.input_files import text_of
from antiphon.cli.output import UsageError, command, stderr, write
from antiphon.redis_acl import acl_file
from antiphon.redis_rules import USERS, User

Users = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help=f"Print only this user; repeatable. Users: {', '.join(USERS)}."),
]
Passwords = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A file with lines NAME=PASSWORD; missing passwords are generated."),
]
NoPasswords = Annotated[
    bool,
    typer.Option(
        "--nopass-for-tests",
        help="Create users without passwords. Never use it where others can connect.",
    ),
]
IsCluster = Annotated[bool, typer.Option("--cluster", help="Add the rights that a Redis Cluster needs.")]

app = typer.Typer(no_args_is_help=True, help="Prepare the Redis server of a deployment.")


@app.command("acl")
@command
async def acl(
    component: Users = None,
    passwords: Passwords = None,
    nopass_for_tests: NoPasswords = False,
    cluster: IsCluster = False,
) -> None:
    """Print a Redis ACL file: one user for each component, for clients and for operators, with least privilege.

    The file goes to stdout and contains password hashes; generated passwords are printed once, to stderr. Namespace
    and partitions come from the settings: create the file again when they or the release change. The file disables
    the default user, so add a line for your administrator before you use it.

    \b
    antiphon redis acl > users.acl
    redis-server --aclfile users.acl
    ANTIPHON_REDIS_URL=redis://coordinator:PASSWORD@localhost:6379/0 python -m coordinator
    """
    if passwords is not None and nopass_for_tests:
        raise UsageError("--passwords and --nopass-for-tests cannot be combined.", hint="Use one of them.")
    for name in component or ():
        if name not in USERS:
            raise UsageError(f"user {name!r} does not exist.", hint=f"The users are {', '.join(USERS)}.")
    users: tuple[User, ...] = tuple(user for user in USERS if not component or user in component)
    settings = load(PipelineSettings)
    own = _read_passwords(passwords) if passwords is not None else {}
    generated = {} if nopass_for_tests else {user: new_password() for user in users if user not in own}
    chosen = {user: None if nopass_for_tests else own.get(user) or generated[user] for user in users}
    url = settings.redis_url.get_secret_value() if settings.redis_url else DEFAULT_URL
    address = parse(url)
    text = acl_file(
        Keys(settings.namespace, settings.partitions),
        chosen,
        database=address.database,
        is_cluster=cluster or len(address.servers) > 1,
        has_sentinels=bool(address.sentinels),
    )
    write(text)
    for user, password in generated.items():
        stderr().print(f"{user}: {form_for(url, user, password)}")
    if generated:
        stderr().print(
            "These passwords are not shown again; the file contains only their hashes.", style="yellow"
        )
    if nopass_for_tests:
        stderr().print("Anyone who can connect to this Redis can act as any of these users.", style="yellow")


def _read_passwords(file: Path) -> dict[str, str]:
    """Return the passwords by user. Raises as `text_of`, and UsageError, which does not quote them."""
    by_user: dict[str, str] = {}
    for number, line in enumerate(text_of(file, "--passwords").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, password = line.partition("=")
        if name not in USERS or not password or name in by_user:
            raise UsageError(
                f"{file}, line {number}: not of the form NAME=PASSWORD, or a repeated or unknown user.",
                hint=f"Use each of these names at most once: {', '.join(USERS)}.",
            )
        by_user[name] = password
    return by_user
