"""`antiphon events`: the messages of the bus."""

import typer
from antiphon_shared.events.asyncapi import document

from antiphon.cli.output import print_json

app = typer.Typer(no_args_is_help=True, help="The messages the components exchange.")


@app.callback()
def _events() -> None:
    """The messages the components exchange."""


@app.command()
def schema() -> None:
    """Print the AsyncAPI 3 document of the whole bus, made from the models: every event, every stream.

    \b
    antiphon events schema > asyncapi.json
    """
    print_json(document(), is_indented=True)
