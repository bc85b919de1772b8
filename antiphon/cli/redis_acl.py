"""`antiphon redis`: the configuration of a deployment's Redis."""

from pathlib import Path
from typing import Annotated

import typer
from antiphon_shared.bus.address import DEFAULT_URL, form_for, parse
from antiphon_shared.bus.keys import Keys
from antiphon_shared.process.ids import new_password
from antiphon_shared.process.settings import PipelineSettings, load

from antiphon.cli.output import UsageError, run, stderr, write
from antiphon.redis_acl import USERS, User, acl_file

app = typer.Typer(no_args_is_help=True, help="What the Redis of a deployment needs to be told.")


@app.callback()
def _redis() -> None:
    """What the Redis of a deployment needs to be told."""


@app.command("acl")
def acl(
    component: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"Only this user: {', '.join(USERS)}. Repeat it for more."),
    ] = None,
    passwords: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Lines NAME=PASSWORD; those missing are drawn.")
    ] = None,
    nopass_for_tests: Annotated[
        bool,
        typer.Option("--nopass-for-tests", help="Users without passwords. Never where others can connect."),
    ] = False,
    cluster: Annotated[bool, typer.Option("--cluster", help="For a Redis Cluster.")] = False,
) -> None:
    """Print a Redis ACL file: one user for each component, for clients and for operators, each with least rights.

    The file goes to stdout and holds hashes; passwords that were drawn are shown once, on stderr. Namespace and
    partitions come from the settings: draw the file up again when they or the release change. The default user is
    switched off, so add a line for your administrator before you use it.

    \b
    antiphon redis acl > users.acl
    redis-server --aclfile users.acl
    ANTIPHON_REDIS_URL=redis://coordinator:PASSWORD@localhost:6379/0 python -m coordinator
    """
    run(_acl(component or [], passwords, nopass_for_tests, cluster))


async def _acl(names: list[str], file: Path | None, is_open: bool, is_cluster: bool) -> None:
    if file is not None and is_open:
        raise UsageError("--passwords and --nopass-for-tests exclude each other.", hint="Give one of them.")
    for name in names:
        if name not in USERS:
            raise UsageError(f"{name!r} is no user.", hint=f"There are {', '.join(USERS)}.")
    users: tuple[User, ...] = tuple(user for user in USERS if not names or user in names)
    settings = load(PipelineSettings)
    given = _given(file) if file is not None else {}
    drawn = {} if is_open else {user: new_password() for user in users if user not in given}
    chosen = {user: None if is_open else given.get(user) or drawn[user] for user in users}
    url = settings.redis_url.get_secret_value() if settings.redis_url else DEFAULT_URL
    address = parse(url)
    text = acl_file(
        Keys(settings.namespace, settings.partitions),
        chosen,
        database=address.database,
        is_cluster=is_cluster or len(address.servers) > 1,
        has_sentinels=bool(address.sentinels),
    )
    write(text)
    for user, password in drawn.items():
        stderr().print(f"{user}: {form_for(url, user, password)}")
    if drawn:
        stderr().print("These passwords are not shown again; the file holds their hashes.", style="yellow")
    if is_open:
        stderr().print("Anybody who reaches this Redis is any of these users.", style="yellow")


def _given(file: Path) -> dict[str, str]:
    """Return the passwords by user. Raises UsageError, which quotes none of them."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}."
        ) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, password = line.partition("=")
        if name not in USERS or not password or name in found:
            raise UsageError(
                f"{file}, line {number}: not NAME=PASSWORD of one user.",
                hint=f"Names, each once: {', '.join(USERS)}.",
            )
        found[name] = password
    return found
