"""The complete question of a test and of a recording, with model, tools and permissions.

A recorded answer is valid for a test only if both questions are the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon_shared.events import QuerySubmitted, SessionOpened
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.events.step_records import ExchangeRecord, ModelCall
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secret_values
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.grants import UnreadableGrant, read_claims
from antiphon_shared.tools.relevance import BUILT_INS
from pydantic_core import to_json, to_jsonable_python

from antiphon.embedded import dispatcher_settings, registry_of
from antiphon.recording.hashes import content_hash
from antiphon.recording.lines import CatalogueLine, Header, Line, data_in, records_in
from antiphon.replay.differences import ABSENT, differences
from antiphon.replay.reports.change_lines import change, printable
from antiphon.replay.testing.scripted import ScriptedModel, is_scripted, scripted_reply
from coordinator.models import in_order
from reasoning_engine.settings import EngineSettings, Provider
from tool_dispatcher.catalogue import to_catalogue

_CALL_OPTIONS = frozenset({"session_id", "traceparent", "grant", "timeout_s"})
"""Arguments of Antiphon.ask that are not options of the query."""


@dataclass(frozen=True)
class Question:
    """A question; None means that the test does not set a part."""

    query: str
    options: Mapping[str, Any]
    session_id: str | None
    grant: Any
    scopes: tuple[str, ...]
    tools: Mapping[str, Any]
    """Definitions of the tools by name, without built-in tools."""
    provider: str | None
    models: tuple[str, ...] | None
    script: Sequence[Any] | None
    """The replies of a scripted model."""


@dataclass(frozen=True)
class AskArguments:
    """The arguments with which a test asks a question."""

    query: str
    tools: Sequence[Any]
    model: Provider | ScriptedModel | None
    scopes: Iterable[str] | None
    options: Mapping[str, Any]


def question_of(arguments: AskArguments, format: int) -> Question:
    """Return the question of a test, in the form of a session of `format`. Raises ConfigurationError."""
    registry, options = registry_of(arguments.tools), arguments.options
    catalogue = to_catalogue(registry, dispatcher_settings(arguments.scopes).default_scopes).in_format(format)
    catalogue = Catalogue.model_validate(Redactor(secret_values()).json(catalogue.model_dump(mode="json")))
    query_options = QueryOptions.model_validate_json(
        to_json({name: value for name, value in options.items() if name not in _CALL_OPTIONS})
    )
    pipeline, provider = load(PipelineSettings), _provider(arguments.model)
    deployed = in_order(pipeline.model, pipeline.models)
    return Question(
        query=arguments.query,
        options=query_options.model_dump(mode="json"),
        session_id=options.get("session_id"),
        grant=_claims(options.get("grant", "")),
        scopes=catalogue.default_scopes,
        tools=_definitions(catalogue),
        provider=provider,
        models=None if provider == "offline" else in_order(query_options.model or "", deployed),
        script=arguments.model.script if isinstance(arguments.model, ScriptedModel) else None,
    )


def question_in(lines: Sequence[Line]) -> Question:
    """Return the question of a recording. Raises UnreadableEvent if it is unknown."""
    submitted, opened = next(data_in(lines, QuerySubmitted), None), next(data_in(lines, SessionOpened), None)
    if submitted is None or opened is None:
        raise UnreadableEvent("the session was not open yet when it was recorded.")
    catalogues = {line.hash: line.catalogue for line in lines if isinstance(line, CatalogueLine)}
    if opened.catalogue and opened.catalogue not in catalogues:
        raise UnreadableEvent(f"it lacks the tool catalogue {opened.catalogue}.")
    catalogue = catalogues.get(opened.catalogue, Catalogue())
    exchanges = list(records_in(lines, ExchangeRecord))
    calls = [call for exchange in exchanges for call in exchange.calls]
    has_script = any(is_scripted(call.reply or {}) for call in calls)
    is_offline = any(exchange.is_offline for exchange in exchanges)
    provider = "offline" if is_offline else "scripted" if has_script else "anthropic" if calls else None
    return Question(
        query=submitted.query,
        options=submitted.options.model_dump(mode="json"),
        session_id=next((line.session_id for line in lines if isinstance(line, Header)), None),
        grant=_claims(submitted.grant),
        scopes=catalogue.default_scopes,
        tools=_definitions(catalogue),
        provider=provider,
        models=None if is_offline else opened.models,
        script=[_reply(call) for call in calls] if has_script else None,
    )


def difference(then: Question, today: Question) -> list[str]:
    """Return the differences between the recorded and the test's question, as lines; empty if they are equal."""
    lines: list[str] = []
    for part in ("query", "options", "session_id", "grant", "scopes", "provider", "models", "script"):
        before, after = getattr(then, part), getattr(today, part)
        if part not in _ALWAYS_COMPARED and None in (before, after):
            continue
        lines += _difference_lines(_NAMES.get(part, part), before, after)
    for name in sorted({*then.tools, *today.tools}):
        before, after = then.tools.get(name), today.tools.get(name)
        if before is None or after is None:
            lines += _difference_lines(f"tools.{name}", _schema(before), _schema(after))
        elif before != after:
            lines.append(f"tools.{name}: {_schema(before)} then, {_schema(after)} now")
            lines += _difference_lines("", before, after)
    return lines


_ALWAYS_COMPARED = frozenset({"query", "options", "grant", "scopes"})
"""Parts that are always compared; other parts are not compared if one side lacks them."""
_NAMES = {"provider": "model", "models": "model ids", "script": "replies of the scripted model"}


def _difference_lines(name: str, before: object, after: object) -> list[str]:
    lines = []
    for path, expected, got in differences(to_jsonable_python(before), to_jsonable_python(after)):
        joint = "." if name and path and not path.startswith("[") else ""
        lines += [printable(f"{name}{joint}{path}"), *(f"  {line}" for line in change(expected, got))]
    return lines


def _schema(definition: object) -> str:
    """Return the hash of a tool's definition as text."""
    return ABSENT if definition is None else f"schema {content_hash(to_json(definition))[:12]}"


def _definitions(catalogue: Catalogue) -> dict[str, Any]:
    """Return the tools' definitions for the model, without the operator's rules for approval."""
    return {
        tool.name: tool.model_dump(mode="json", exclude={"approval"})
        for tool in catalogue.tools
        if tool.name not in BUILT_INS
    }


def _provider(model: Provider | ScriptedModel | None) -> str | None:
    """Return the provider; None if the available keys decide."""
    if isinstance(model, ScriptedModel):
        return "scripted"
    provider = model or load(EngineSettings).provider
    return None if provider == "auto" else provider


def _claims(grant: str) -> Any:
    """Return a grant's claims without its expiry and signature, which differ each time."""
    try:
        return read_claims(grant).model_dump(mode="json", exclude={"expires"}) if grant else None
    except UnreadableGrant:
        return grant


def _reply(call: ModelCall) -> dict[str, Any]:
    """Return one reply in the form of a script."""
    if call.reply is None:
        return {"status": call.error.status if call.error else None}
    return scripted_reply(call.reply)
