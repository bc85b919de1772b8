"""`antiphon settings`: all settings."""

from antiphon.cli.output import Json, command, print_json, print_table


@command
async def settings(json: Json = False) -> None:
    """List every setting: environment variable, accepted values, default and meaning.

    \b
    antiphon settings | grep LEASE
    """
    from antiphon.settings_table import GROUPS, variables

    rows = [row for _, kind in GROUPS for row in variables(kind)]
    if json:
        names = ("variable", "value", "default", "meaning")
        print_json([dict(zip(names, row, strict=True)) for row in rows])
    else:
        print_table(("variable", "value", "default", "meaning"), rows, "")
