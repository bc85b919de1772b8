"""The options of a question, shared by the commands that ask or run something."""

from pathlib import Path
from typing import Annotated

import typer
from antiphon_shared.events.session import Citations

from antiphon.submission import Options
from reasoning_engine.settings import Provider

Query = Annotated[
    str, typer.Argument(metavar="QUERY", help="The question. With - it is read from standard input.")
]
MaxRounds = Annotated[
    int | None, typer.Option(help="The limit of reasoning rounds; the last round has no tools.")
]
MaxToolRounds = Annotated[
    int | None, typer.Option(help="The limit of rounds with tool calls; after them the model answers.")
]
MaxToolCalls = Annotated[int | None, typer.Option(help="The limit of tool calls in the session.")]
MaxTokens = Annotated[
    int | None, typer.Option(help="The limit of model tokens in the session, input and output together.")
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        metavar="USD", help="The limit of the model's cost; needs ANTIPHON_REASONING_ENGINE_PRICES."
    ),
]
Deadline = Annotated[
    float | None,
    typer.Option(
        "--deadline", metavar="SECONDS", help="The time limit; the answer then uses the results so far."
    ),
]
CitationsOption = Annotated[
    Citations | None,
    typer.Option(help="strict: statements of the answer without a source are marked and counted."),
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
Conversation = Annotated[
    str | None,
    typer.Option(
        "--conversation",
        metavar="ID",
        help="The conversation that the question continues; its earlier answers are used. An unused "
        "id begins a new conversation; choose one that cannot be guessed.",
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
OutputSchema = Annotated[
    Path | None,
    typer.Option(
        "--output-schema",
        metavar="FILE",
        help="A JSON Schema that the answer must match; with --json, `result` in the response holds it.",
    ),
]
StepFile = Annotated[
    Path | None,
    typer.Option(
        "--steps",
        metavar="FILE|NAME",
        help="Steps, each with its own tools and output, that must succeed in order: a YAML file, or "
        "the name of steps that the operator has published. See docs/structured-answers.md.",
    ),
]
SessionIdOption = Annotated[
    str | None,
    typer.Option(
        help="Your own id. The same question with the same id is one session; another question "
        "with it is refused."
    ),
]


def limits_of(
    max_rounds: int | None,
    max_tool_rounds: int | None,
    max_tool_calls: int | None,
    max_tokens: int | None,
    max_cost_usd: float | None,
    deadline_s: float | None,
) -> Options:
    """Return the limits of a query as they are submitted."""
    return Options(
        max_rounds=max_rounds,
        max_tool_rounds=max_tool_rounds,
        max_tool_calls=max_tool_calls,
        max_tokens=max_tokens,
        max_cost_usd=max_cost_usd,
        deadline_s=deadline_s,
    )


def options_of(
    limits: Options, citations: Citations | None, conversation: str | None, is_interactive: bool
) -> Options:
    """Return all options of a query as they are submitted."""
    return Options(
        **limits, citations=citations, conversation_id=conversation, interactive=is_interactive or None
    )
