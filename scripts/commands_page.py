"""Print docs/commands.md: every command of `antiphon` with its arguments and options, from their help texts."""

import re
import sys

import typer
from typer.cli import get_docs_for_click

from antiphon.cli import app

_INTRODUCTION = """\
# Commands

After this page you know every command of `antiphon`, its arguments and its options. Each command prints the same with
`--help`. [Running](running.md) shows the most used ones at work.

If a file that a command names does not exist, the exit code is 2. If it cannot be read, it is 3;
for the key files of `grants` it is 2.

This page is made from the help texts by `make docs`.
"""

_AS_IT_STANDS = re.compile(r"^\x08\n(.*?)(?=\n\n|\Z)", re.M | re.S)
"""A paragraph whose lines the command line does not wrap, such as examples: Click marks it with a backspace."""


def markdown() -> str:
    """Return the whole page."""
    group = typer.main.get_command(app)
    text = get_docs_for_click(obj=group, ctx=typer.Context(group), name="antiphon")
    text = _AS_IT_STANDS.sub(lambda match: f"```text\n{match[1]}\n```", text)
    _, _, commands = text.partition("\n\n")
    return f"{_INTRODUCTION}\n{commands.rstrip()}\n"


if __name__ == "__main__":
    sys.stdout.write(markdown())
