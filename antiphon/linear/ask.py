"""A query answered in this process: read settings, build objects, run the rounds."""

from collections.abc import Iterable
from typing import Any, Literal

import structlog
from antiphon_shared.bus.replies import reply
from antiphon_shared.events import AnyEvent, AssemblyRequested, QuerySubmitted
from antiphon_shared.events.session import Response
from antiphon_shared.formats import FORMAT
from antiphon_shared.memory.findings import Findings
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.process import logs
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.ids import new_id
from antiphon_shared.process.settings import BusSettings, PipelineSettings, load
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secret_values
from antiphon_shared.tools.calls import Catalogue

from antiphon.embedded import check_scopes, dispatcher_settings, registry_of
from antiphon.errors import InvalidQuery
from antiphon.linear.history import LINEAR_SYSTEM, SINGLE_SYSTEM, message_tokens, question_message
from antiphon.linear.rounds import NO_ENTRY, LinearSession, Rounds
from antiphon.linear.states import LinearResponse, with_rounds
from antiphon.linear.tools import LinearTools
from antiphon.submission import Options, submission
from coordinator.decision import Opening
from coordinator.opening import open_session
from coordinator.settings import CoordinatorSettings
from reasoning_engine.access import load_access
from reasoning_engine.choice import choose_model
from reasoning_engine.settings import EngineSettings, Provider
from response_assembler.compose import compose
from tool_dispatcher.builtin import with_repeat_call
from tool_dispatcher.catalogue import Registry, to_catalogue
from tool_dispatcher.operator_hints import add_hints
from tool_dispatcher.settings import ToolDispatcherSettings

OneProcessPlan = Literal["linear", "single"]
_DEADLINE_S_MAX = 86_400.0


async def ask_linear(
    query: str,
    tools: Iterable[Any] = (),
    *,
    model: Provider | None = None,
    scopes: Iterable[str] | None = None,
    plan: OneProcessPlan = "linear",
    options: Options | None = None,
) -> LinearResponse:
    """Ask in this process, and wait for the answer.

    The arguments are those of `Antiphon.embedded(tools, model=model, scopes=scopes)` and `ask(query,
    **options)`; the settings of limits, models and tools apply here too. `plan="single"` makes a single call
    of the model, without tools. The answer is partial if a limit is reached or the model fails. Only
    `max_tool_rounds` leads to a complete answer: 2 means up to two rounds of tool calls, then the answer.

    The response holds the rounds and their statistics. They are logged as `linear_round` and `linear_session` if
    structlog is configured.

    Raises InvalidQuery and ConfigurationError; failures of a model or a tool are never raised.
    """
    _check(options or Options())
    if not structlog.is_configured():
        logs.silence("warning")  # structlog's default would write to the caller's stdout
    registry = with_repeat_call(registry_of(() if plan == "single" else tools))
    settings, engine, pipeline = dispatcher_settings(scopes), load(EngineSettings), load(PipelineSettings)
    redactor = Redactor(secret_values())
    if scopes is not None and registry:
        check_scopes(settings.default_scopes, registry)
    catalogue = _catalogue(registry, settings, redactor)
    system = SINGLE_SYSTEM if plan == "single" else LINEAR_SYSTEM
    linear_tools = LinearTools(registry, settings, redactor)
    model_sources = {"ANTIPHON_MODEL": (pipeline.model,)}
    chosen = choose_model(model or engine.provider, load_access(), engine.request_timeout_s, model_sources)
    if registry and engine.tool_style == "prompted" and not chosen.is_offline:
        await chosen.close()
        raise ConfigurationError(
            "ANTIPHON_REASONING_ENGINE_TOOL_STYLE is prompted, but the linear plan needs native tools.",
            hint="Set it to native, or use `Antiphon.embedded(tools)`.",
        )
    try:
        bytes_max = load(BusSettings).max_event_bytes
        event = submission(query, options or Options(), None, new_id(), utc_now(), bytes_max)
        state = _opened(event, catalogue)
        rounds = Rounds(state, catalogue, system, chosen, pipeline.model, linear_tools, settings=engine)
        return with_rounds(_response(state, await rounds.run()), state.rounds)
    finally:
        linear_tools.close()
        await chosen.close()


def _check(options: Options) -> None:
    for name in ("output_schema", "steps"):
        if options.get(name) is not None:
            raise InvalidQuery(
                f"options.{name}: the linear plan does not check answers against a schema.",
                hint="Use `Antiphon.embedded(tools).ask(...)`, which supports it.",
            )


def _catalogue(registry: Registry, settings: ToolDispatcherSettings, redactor: Redactor) -> Catalogue:
    """Return the catalogue of the tools, redacted, as a default or an example may hold a secret of this process."""
    catalogue = add_hints(to_catalogue(registry, settings.default_scopes), settings.hints if registry else "")
    return Catalogue.model_validate(redactor.json(catalogue.model_dump(mode="json")))


def _opened(event: AnyEvent, catalogue: Catalogue) -> LinearSession:
    """Return the session of a query, opened as the coordinator does, without interaction and conversation."""
    query = event.data
    assert isinstance(query, QuerySubmitted)
    options = query.options.model_copy(update={"conversation_id": None, "interactive": None})
    query = query.model_copy(update={"options": options})
    event = event.model_copy(update={"format": FORMAT})
    defaults = load(CoordinatorSettings).limits(load(BusSettings).lease_s, _DEADLINE_S_MAX)
    decision = open_session(event, NO_ENTRY, query, Opening(defaults, catalogue=""), catalogue)
    (number, request), first = list(enumerate(decision.commands))[-1], question_message(query.query)
    briefing = reply(event, number, request, "coordinator", event.time)
    return LinearSession(decision.session, briefing, [first], Memory(query.query), message_tokens(first))


def _response(state: LinearSession, request: AssemblyRequested) -> Response:
    """Return the answer, composed as the assembler does."""
    replied = None if request.reply is None else state.reply
    ready = compose(state.session.id, request, utc_now(), Findings(state.memory, replied))
    return Response.model_validate(ready.model_dump())
