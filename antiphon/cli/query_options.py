"""The options of a question, shared by the commands that ask or run something."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from antiphon_shared.events.session import Citations

from reasoning_engine.settings import Provider

Query = Annotated[
    str, typer.Argument(metavar="QUERY", help="The question. With - it is read from standard input.")
]
ToolModules = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="MODULE[:NAME]",
        help="Python modules with tools, separated by commas or repeated. They may be in the current "
        "directory. Default: ANTIPHON_TOOLS.",
    ),
]
Model = Annotated[
    Provider | None,
    typer.Option(
        help="anthropic; offline, which needs no key and answers by rules from the tools' results; "
        "auto, which uses ANTIPHON_MODEL: anthropic if a key is set, else offline."
    ),
]
GrantOption = Annotated[
    str | None,
    typer.Option(
        "--grant",
        metavar="TOKEN|@FILE",
        help="A signed grant with the session's permissions, or a file that contains one. Default: "
        "the operator's default scopes.",
    ),
]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="A permission for tools in a private pipeline, such as read or write; repeatable. "
        "Default: ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES, which is read.",
    ),
]
Interactive = Annotated[
    bool,
    typer.Option(
        "--interactive",
        "-i",
        help="Let the model ask you questions. You answer them, and approve calls, at this terminal.",
    ),
]
InteractiveSession = Annotated[
    bool,
    typer.Option(
        "--interactive", "-i", help="Let the model ask questions; `antiphon sessions answer` answers them."
    ),
]


@dataclass(frozen=True)
class QuestionOptions:
    """The options of a question, which `ask` and `submit` share."""

    max_rounds: Annotated[
        int | None, typer.Option(help="The limit of reasoning rounds; the last round has no tools.")
    ] = None
    max_tool_rounds: Annotated[
        int | None, typer.Option(help="The limit of rounds with tool calls; after them the model answers.")
    ] = None
    max_tool_calls: Annotated[int | None, typer.Option(help="The limit of tool calls in the session.")] = None
    max_tokens: Annotated[
        int | None, typer.Option(help="The limit of model tokens in the session, input and output together.")
    ] = None
    max_cost: Annotated[
        float | None,
        typer.Option(
            metavar="USD", help="The limit of the model's cost; needs ANTIPHON_REASONING_ENGINE_PRICES."
        ),
    ] = None
    deadline: Annotated[
        float | None,
        typer.Option(
            "--deadline", metavar="SECONDS", help="The time limit; the answer then uses the results so far."
        ),
    ] = None
    citations: Annotated[
        Citations | None,
        typer.Option(help="strict: statements of the answer without a source are marked and counted."),
    ] = None
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation",
            metavar="ID",
            help="The conversation that the question continues; its earlier answers are used. An unused "
            "id begins a new conversation; choose one that cannot be guessed.",
        ),
    ] = None
    output_schema: Annotated[
        Path | None,
        typer.Option(
            "--output-schema",
            metavar="FILE",
            help="A JSON Schema that the answer must match; with --json, `result` in the response holds it.",
        ),
    ] = None
    steps: Annotated[
        Path | None,
        typer.Option(
            "--steps",
            metavar="FILE|NAME",
            help="Steps, each with its own tools and output, that must succeed in order: a YAML file, or "
            "the name of steps that the operator has published. See docs/structured-answers.md.",
        ),
    ] = None
    session_id: Annotated[
        str | None,
        typer.Option(
            help="Your own id. The same question with the same id is one session; another question "
            "with it is refused."
        ),
    ] = None
    grant: GrantOption = None


def takes_question(work: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of a question in place of its parameter `question_options`."""
    own = [one for one in signature(work).parameters.values() if one.name != "question_options"]
    shared = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type)
        for one in fields(QuestionOptions)
    ]

    @wraps(work)
    def call(**arguments: Any) -> None:
        question_options = QuestionOptions(**{one.name: arguments.pop(one.name) for one in shared})
        work(question_options=question_options, **arguments)

    call.__signature__ = Signature([*own, *shared])  # type: ignore[attr-defined]  # Typer reads it
    return call
