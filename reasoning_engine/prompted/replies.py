"""From the JSON form of a model's answer to our reply: parsed leniently, checked against the form strictly. Pure."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from antiphon_shared.output.schema import FAULTS_MAX
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.calls import ToolCall
from antiphon_shared.values import JsonObject
from pydantic_core import to_json

from reasoning_engine.prompted.form import CALLS, REASONING, RESULT, SUCCESS, Form, read_form
from reasoning_engine.reply import Reply

CALLS_MAX = 100
_KEYS = (CALLS, SUCCESS, RESULT, REASONING)
_CALL_KEYS = ("name", "arguments")
_NAME_CHARACTERS_MAX = 60
_TOOLS_LISTED_MAX = 20
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_NO_FORM = f"It holds no JSON; reply with one JSON object that has `{CALLS}`, or `{SUCCESS}` and `{RESULT}`."
_SILENT = "It says nothing; reply with one JSON object in one of the two forms."
_NO_TOOLS = f"No tool can be called in this reply; give `{SUCCESS}` and `{RESULT}`."
_NO_CALLS = f"`{CALLS}` is empty; name the calls to make, or give `{SUCCESS}` and `{RESULT}`."
_EMPTY_RESULT = (
    f"`{SUCCESS}` is true, and `{RESULT}` is empty; give the result, or call tools for what is missing."
)
_UNEXPLAINED = f"`{SUCCESS}` is false, and neither `{RESULT}` nor `{REASONING}` says why."
_NOT_A_RESULT = (
    f"`{SUCCESS}` is false, and a `{RESULT}` is still asked for: call tools for what is missing, or give it."
)


def read_prompted_reply(reply: Reply, offered: Collection[str], round: int, is_shaped: bool) -> Reply:
    """Return the reply with the contents of its form, or with the reasons for its rejection.

    Plain prose is the answer if the query demands no form. A model's own refusal is kept.
    """
    if reply.stop_reason == "refusal" or reply.tool_calls:
        return reply
    form = read_form(reply.text)
    if form.problem:
        return _refused(reply, form, (form.problem,), is_shaped)
    if form.value is None:
        if form.prose and not is_shaped:
            return replace(reply, text=form.prose)
        return _refused(reply, form, (_NO_FORM if form.prose else _SILENT,), is_shaped)
    if problems := tuple(_problems(form.value, offered, is_shaped))[:FAULTS_MAX]:
        return _refused(reply, form, problems, is_shaped)
    if calls := form.value.get(CALLS):
        noted = "\n\n".join(filter(None, (form.prose, form.value.get(REASONING))))
        return replace(reply, text=noted, tool_calls=_tool_calls(calls, round), stop_reason="tool_use")
    return replace(reply, text=_answer(form.value, is_shaped), stop_reason="end_turn")


def _problems(value: JsonObject, offered: Collection[str], is_shaped: bool) -> Iterator[str]:
    """Yield the faults of an object that has one of the forms, a sentence each."""
    yield from _extra(value, _KEYS, "The object")
    if not isinstance(value.get(REASONING), str | None):
        yield f"`{REASONING}` must be text."
    calls = value.get(CALLS)
    if not isinstance(calls, list | None):
        yield f"`{CALLS}` must be a list of calls, each with `name` and `arguments`."
    elif calls:
        yield from _call_problems(calls, offered)
    elif SUCCESS not in value:
        yield _NO_CALLS if offered else _NO_TOOLS
    else:
        yield from _end_problems(value, is_shaped)


def _call_problems(calls: list[Any], offered: Collection[str]) -> Iterator[str]:
    if not offered:
        yield _NO_TOOLS
        return
    if len(calls) > CALLS_MAX:
        yield f"`{CALLS}` has {len(calls)} calls, more than the limit of {CALLS_MAX}; make the others later."
        return
    for n, call in enumerate(calls, 1):
        which = f"Call {n}"
        if not isinstance(call, dict):
            yield f"{which} must be an object with `name` and `arguments`."
            continue
        yield from _extra(call, _CALL_KEYS, which)
        name = call.get("name")
        if not isinstance(name, str):
            yield f"{which} has no `name`."
        elif name not in offered:
            names = ", ".join(sorted(offered)[:_TOOLS_LISTED_MAX])
            yield f"{which}: there is no tool `{_excerpt(name)}` here. There are: {names}."
        if "arguments" not in call:
            yield f"{which} has no `arguments`; give an object, empty where the tool needs none."
        elif not isinstance(call["arguments"], dict):
            yield f"{which}: `arguments` must be a JSON object."


def _end_problems(value: JsonObject, is_shaped: bool) -> Iterator[str]:
    success, is_empty = value[SUCCESS], _is_empty(value.get(RESULT))
    if not isinstance(success, bool):
        yield f"`{SUCCESS}` must be true or false."
    elif success and is_empty:
        yield _EMPTY_RESULT
    elif not success and is_shaped:
        yield _NOT_A_RESULT
    elif not success and is_empty and _is_empty(value.get(REASONING)):
        yield _UNEXPLAINED


def _extra(value: JsonObject, allowed: tuple[str, ...], what: str) -> Iterator[str]:
    extra = [name for name in value if name not in allowed]
    if extra:
        names = ", ".join(f"`{_excerpt(name)}`" for name in extra[:_TOOLS_LISTED_MAX])
        yield f"{what} has keys that it must not have: {names}. It may have {', '.join(allowed)}."


def _is_empty(result: object) -> bool:
    return not result.strip() if isinstance(result, str) else result in _EMPTY


def _answer(value: JsonObject, is_shaped: bool) -> str:
    """Return the result as the text of a reply; if it is empty, the reason given."""
    result = value.get(RESULT)
    if is_shaped:
        return to_json(result).decode()
    if _is_empty(result):
        return str(value[REASONING]).strip()
    return (
        result.strip() if isinstance(result, str) else f"```json\n{to_json(result, indent=2).decode()}\n```"
    )


def _tool_calls(calls: list[Any], round: int) -> tuple[ToolCall, ...]:
    # A session has one accepted reply per round, so the ids of calls are unique.
    return tuple(
        ToolCall(id=f"call_{round}_{n}", name=call["name"], arguments=call["arguments"])
        for n, call in enumerate(calls, 1)
    )


def _refused(reply: Reply, form: Form, because: tuple[str, ...], is_shaped: bool) -> Reply:
    """Return the reply as one that does not count.

    Its text is the whole attempt if that is quoted to the user; otherwise the answer within it, for a
    session that ends.
    """
    text = form.value.get(RESULT) if form.value is not None and form.value.get(SUCCESS) is True else None
    answer = text.strip() if isinstance(text, str) else ""
    return replace(reply, text=reply.text if is_shaped else answer, refused=because)


def _excerpt(name: str) -> str:
    return one_line(name, _NAME_CHARACTERS_MAX)
