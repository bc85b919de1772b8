"""The help of a group shows the summaries of its table, and imports none of its commands."""

from types import ModuleType

import pytest
import typer

import antiphon.cli
import antiphon.cli.recipes
import antiphon.cli.replay
import antiphon.cli.workflows
from tests.antiphon.conftest import InProcess


@pytest.mark.parametrize(
    "module",
    [antiphon.cli, antiphon.cli.recipes, antiphon.cli.replay, antiphon.cli.workflows],
    ids=lambda module: module.__name__,
)
def test_a_summary_is_the_first_sentence_of_the_help_of_its_command(module: ModuleType) -> None:
    group = typer.main.get_command(module.app)
    context = typer.Context(group)

    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}  # type: ignore[attr-defined]  # a group
    assert {name: command.get_short_help_str(limit=1_000) for name, command in commands.items()} == {
        name: summary for name, (_, summary) in module.COMMANDS.items()
    }


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        (("aks", "Why?"), "No such command 'aks'. Did you mean ask? There are: ask, submit, up,"),
        (("workflows", "rnu"), "No such command 'rnu'. Did you mean run? There are: "),
        (("sessions", "lst"), "No such command 'lst'. Did you mean 'list'?"),
        (("aks", "--help"), "No such command 'aks'. Did you mean ask?"),
        (("--aks",), "No such option: --aks"),
    ],
    ids=["a command", "a command of a group", "a command of a plain group", "help of a command", "an option"],
)
def test_a_mistyped_command_is_named_with_the_nearest(
    run: InProcess, typed: tuple[str, ...], error: str
) -> None:
    assert error in " ".join(run.refused(*typed).split())
