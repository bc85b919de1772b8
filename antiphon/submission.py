"""The events made from a caller's arguments, which are checked as the intake checks them. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from antiphon_shared.events import (
    AnyEvent,
    EventData,
    QuerySubmitted,
    decode,
    encode,
)
from antiphon_shared.events.base import TraceParent
from antiphon_shared.events.client import ANSWER_LENGTH_MAX, GRANT_LENGTH_MAX, QUERY_LENGTH_MAX
from antiphon_shared.events.codec import ENVELOPES, explain, unknown_field
from antiphon_shared.events.session import Citations, QueryOptions, WorkflowCall
from antiphon_shared.formats import needed_format
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.ids import CHILD
from antiphon_shared.tools.grants import UnreadableGrant, read_claims
from antiphon_shared.values import SessionId
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from antiphon.errors import InvalidQuery
from antiphon.steps import Step

_TIMEOUT_S_MAX = 1e9
_session_id: TypeAdapter[str] = TypeAdapter(SessionId)
_traceparent: TypeAdapter[str] = TypeAdapter(TraceParent)


class Options(TypedDict, total=False):
    """The fields of QueryOptions as keyword arguments; the pipeline has defaults for the rest."""

    max_rounds: int | None
    max_tool_rounds: int | None
    max_tool_calls: int | None
    max_tokens: int | None
    max_cost_usd: float | None
    deadline_s: float | None
    tools: list[str] | tuple[str, ...] | None
    model: str | None
    citations: Citations | None
    conversation_id: str | None
    interactive: bool | None
    output_schema: dict[str, Any] | None
    validation_tools: list[str] | tuple[str, ...] | None
    steps: str | Sequence[Step | dict[str, Any]] | None
    workflow: WorkflowCall | None


def submission(
    query: str,
    options: Options,
    session_id: str | None,
    event_id: UUID,
    now: datetime,
    bytes_max: int,
    *,
    traceparent: str | None = None,
    grant: str = "",
) -> AnyEvent:
    """Return the query.submitted of one query. Raises InvalidQuery, which names the field and the remedy."""
    subject = str(event_id) if session_id is None else checked_session_id(session_id)
    if CHILD in subject:
        raise InvalidQuery(
            f"session_id: {subject!r} is reserved for sessions that another session starts.",
            hint=f"Use an id without {CHILD}, or omit it.",
        )
    data = QuerySubmitted(
        query=_checked_query(query),
        options=_checked_options(options),
        grant=_checked_grant(grant, subject),
    )
    event: AnyEvent = ENVELOPES[QuerySubmitted](
        id=event_id,
        source="client",
        type=QuerySubmitted.type,
        subject=subject,
        time=now,
        correlationid=event_id,
        traceparent=None if traceparent is None else _checked_traceparent(traceparent),
        # The lowest possible format, as the coordinators may be of an earlier release.
        format=needed_format(data)[0],
        data=data,
    )
    if len(encoded := encode(event)) > bytes_max:
        raise InvalidQuery(f"query: larger than {bytes_max} bytes.", hint="Shorten it.")
    try:
        return decode(encoded)
    except UnreadableEvent as error:
        raise InvalidQuery(error.message) from None


def signal(
    kind: type[EventData],
    fields: Mapping[str, object],
    session_id: str,
    opening: AnyEvent,
    event_id: UUID,
    now: datetime,
) -> AnyEvent:
    """Return an event for the session that `opening` began, with the fields `fields`. Raises InvalidQuery."""
    try:
        data = kind.model_validate(fields, strict=True)
        data.model_dump_json()
    except ValidationError as error:
        raise InvalidQuery(f"{explain(error)}.") from None
    except PydanticSerializationError:
        raise InvalidQuery("text: not valid Unicode.", hint="Replace the lone surrogates.") from None
    return ENVELOPES[kind](
        id=event_id,
        source="client",
        type=data.type,
        subject=session_id,
        time=now,
        correlationid=opening.correlationid,
        traceparent=opening.traceparent,
        format=opening.format,
        data=data,
    )


def checked_session_id(session_id: str, name: str = "session_id") -> str:
    """Return `session_id` if it is valid. Raises InvalidQuery, which calls it `name`."""
    try:
        return _session_id.validate_python(session_id, strict=True)
    except ValidationError:
        raise InvalidQuery(
            f"{name}: {_excerpt(session_id)} is not a valid id.",
            hint="Use 1 to 128 letters, digits, '.', '_', ':' or '-', the first a letter or digit.",
        ) from None


def checked_timeout_s(timeout_s: float | None) -> float | None:
    """Return `timeout_s` if it is valid; None means no limit. Raises InvalidQuery."""
    is_number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
    if timeout_s is None or (is_number and 0 <= timeout_s < _TIMEOUT_S_MAX):
        return timeout_s
    raise InvalidQuery(
        f"timeout_s: {_excerpt(timeout_s)} is not a number of seconds.",
        hint="Omit it to wait for the answer.",
    )


def _checked_query(query: str) -> str:
    _check_words("query", query, QUERY_LENGTH_MAX, "Ask something.")
    try:
        query.encode()
    except UnicodeEncodeError:
        raise InvalidQuery("query: not valid Unicode.", hint="Replace the lone surrogates.") from None
    return query


def checked_answer(text: str) -> str:
    """Return `text` if it can answer a question. Raises InvalidQuery."""
    _check_words("answer", text, ANSWER_LENGTH_MAX, "Write an answer, for example `no`.")
    return text


def _check_words(name: str, text: str, characters_max: int, hint: str) -> None:
    """Raise InvalidQuery for an argument that is no text, has no words or is too long; `hint` is about no words."""
    _check_text(name, text)
    if not text.strip():
        raise InvalidQuery(f"{name}: contains no words.", hint=hint)
    _check_length(name, text, characters_max)


def _check_text(name: str, text: str) -> None:
    if not isinstance(text, str):
        raise InvalidQuery(f"{name}: must be text, not {type(text).__name__}.")


def _check_length(name: str, text: str, characters_max: int) -> None:
    if len(text) > characters_max:
        raise InvalidQuery(
            f"{name}: {len(text)} characters are too many.", hint=f"The limit is {characters_max}."
        )


def _checked_options(options: Options) -> QueryOptions:
    """Return the options, parsed strictly from JSON like those of other clients. Raises InvalidQuery."""
    fields: dict[str, Any] = {**options}
    if isinstance(steps := fields.get("steps"), list | tuple):
        fields["steps"] = [step.as_option() if isinstance(step, Step) else step for step in steps]
    try:
        return QueryOptions.model_validate_json(to_json(fields), strict=True)
    except ValidationError as error:
        message, hint = unknown_field(error, QueryOptions.model_fields)
        raise InvalidQuery(
            message, hint=hint or f"Options are {', '.join(QueryOptions.model_fields)}."
        ) from None
    except (PydanticSerializationError, UnicodeEncodeError, ValueError) as error:
        raise InvalidQuery(f"options: {error}.", hint="Use plain JSON values.") from None


def _checked_grant(grant: str, session_id: str) -> str:
    """Return a grant that may be valid; only a dispatcher can verify it. Raises InvalidQuery."""
    _check_text("grant", grant)
    if not grant:
        return ""
    _check_length("grant", grant, GRANT_LENGTH_MAX)
    try:
        claims = read_claims(grant)
    except UnreadableGrant as error:
        raise InvalidQuery(f"grant: {error}") from None
    if claims.session not in ("", session_id):
        raise InvalidQuery(
            f"grant: valid only for session {claims.session}.",
            hint=f"Submit with session_id={claims.session!r}.",
        )
    return grant


def _checked_traceparent(traceparent: str) -> str:
    try:
        return _traceparent.validate_python(traceparent, strict=True)
    except ValidationError:
        raise InvalidQuery(
            f"traceparent: {_excerpt(traceparent)} is not valid.",
            hint="Use the form 00-<32 hex digits>-<16 hex digits>-01 (W3C Trace Context).",
        ) from None


def _excerpt(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
