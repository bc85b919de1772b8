"""`antiphon events`: the messages of the bus."""

import typer
from antiphon_shared.events.asyncapi import document

from antiphon.cli.output import print_json

app = typer.Typer(no_args_is_help=True, help="Describe the messages that the components exchange.")


@app.command()
def schema() -> None:
    """Print an AsyncAPI 3 document with every event and stream of the bus, generated from the models.

    \b
    antiphon events schema > asyncapi.json
    """
    print_json(document(), is_indented=True)
