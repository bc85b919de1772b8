"""The deployments on which sessions are recorded: settings, tools, and the model."""

from dataclasses import dataclass, replace
from typing import Literal

import orjson
from antiphon_shared.formats import FORMAT

_FEW, _MORE = "tests.recordings.few_tools", "tests.recordings.tools"
_PAGES = ("tests.recordings.page_tools",)
_WRITES = (*_PAGES, "tests.recordings.page_writes")
_SYNTHESIZER = "ANTIPHON_CONTEXT_SYNTHESIZER"
_USUAL = {
    "ANTIPHON_BUS_LEASE_S": "2",
    "ANTIPHON_BUS_RETRY_DELAY_S": "0.02",
    "ANTIPHON_BUS_MAX_OPEN_SESSIONS": "100",
    "ANTIPHON_COORDINATOR_PERSON_WAIT_S": "4",
    "ANTIPHON_REASONING_ENGINE_MAX_ATTEMPTS": "2",
    "ANTIPHON_REASONING_ENGINE_BACKOFF_INITIAL_S": "0.01",
    "ANTIPHON_REASONING_ENGINE_RETRY_AFTER_MAX_S": "0.5",
    "ANTIPHON_REASONING_ENGINE_CONCURRENCY": "100",
    "ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES": "read,write",
    "ANTIPHON_TOOL_DISPATCHER_APPROVAL_AFTER_UNTRUSTED": "true",
}
_PRICE = {"input_usd": 3.0, "output_usd": 15.0, "cache_read_usd": 0.3, "cache_write_usd": 3.75}
_PRICED = ("a_budget_of_a_tenth_of_a_cent", "a_cost_that_is_known", "costs_spent", "costs_nearly_spent")
"""Scenarios whose models have prices."""
_OF_OUR_TOOLS = {
    "ANTIPHON_TOOL_DISPATCHER_APPROVAL": "delete_record",
    "ANTIPHON_REASONING_ENGINE_PRICES": orjson.dumps(dict.fromkeys(_PRICED, _PRICE)).decode(),
}


@dataclass(frozen=True)
class Deployment:
    """One configuration of Antiphon."""

    environment: dict[str, str]
    tools: tuple[str, ...] = (_FEW,)
    provider: Literal["anthropic", "offline"] = "anthropic"
    verifies_grants: bool = False
    names_as: str = "{}"
    """The form of a model's name; the server knows the model by the name of its scenario."""
    format: int = FORMAT
    """The format in which sessions are opened; an earlier one, as if a worker of that release still ran."""


DEPLOYMENTS = {
    "usual": Deployment({**_USUAL, **_OF_OUR_TOOLS}),
    "granted": Deployment({**_USUAL, **_OF_OUR_TOOLS}, verifies_grants=True),
    "all_tools": Deployment({**_USUAL, **_OF_OUR_TOOLS}, (_FEW, _MORE)),
    "impatient": Deployment({**_USUAL, **_OF_OUR_TOOLS, "ANTIPHON_REASONING_ENGINE_MAX_ATTEMPTS": "1"}),
    "small_briefings": Deployment(
        {**_USUAL, "ANTIPHON_CONTEXT_SYNTHESIZER_BRIEFING_TOKENS": "900"},
        ("tests.flows.archive_tools",),
    ),
    "runs": Deployment(
        {**_USUAL, "ANTIPHON_TOOL_DISPATCHER_APPROVAL": "charge"}, ("tests.recordings.run_tools",), "offline"
    ),
    "callers": Deployment(_USUAL, ("tests.recordings.run_tools",)),
    "pages": Deployment(_USUAL, _PAGES),
    "page_writes": Deployment(_USUAL, _WRITES),
    "small_memory": Deployment(
        {**_USUAL, f"{_SYNTHESIZER}_MEMORY_BYTES_MAX": "10000", f"{_SYNTHESIZER}_BRIEFING_TOKENS": "900"},
        _PAGES,
    ),
    "middling_briefings": Deployment(
        {**_USUAL, f"{_SYNTHESIZER}_BRIEFING_TOKENS": "4500", "ANTIPHON_COORDINATOR_SUMMARIES_MAX": "0"},
        _PAGES,
    ),
    "small_pages": Deployment({**_USUAL, f"{_SYNTHESIZER}_BRIEFING_TOKENS": "900"}, _PAGES),
    "unsummarized_pages": Deployment(
        {**_USUAL, f"{_SYNTHESIZER}_BRIEFING_TOKENS": "900", "ANTIPHON_COORDINATOR_SUMMARIES_MAX": "0"},
        _PAGES,
    ),
    "many_tools": Deployment(_USUAL, ("tests.recordings.many_tools",)),
    "ranked": Deployment(_USUAL, ("tests.recordings.ranked_tools",)),
    "limits": Deployment(
        {**_USUAL, "ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES": f"read,write,{'a' * 100}"},
        ("tests.recordings.limit_tools",),
    ),
    "validating": Deployment(_USUAL, ("tests.flows.validating_tools",)),
    "stepwise": Deployment(_USUAL, ("tests.flows.validating_tools", _FEW)),
    "prompted": Deployment(
        {**_USUAL, "ANTIPHON_REASONING_ENGINE_TOOL_STYLE": "prompted"}, ("tests.flows.validating_tools",)
    ),
    "chat": Deployment(_USUAL, ("tests.flows.validating_tools",), names_as="openai:{}"),
    "patient_chat": Deployment(
        {**_USUAL, "ANTIPHON_REASONING_ENGINE_MAX_ATTEMPTS": "10"}, _PAGES, names_as="openai:{}"
    ),
    "offline": Deployment({}, ("examples.courses", "examples.documents"), "offline"),
}
"""Deployments by name. `all_tools` differs from `usual` in its tools alone, `impatient` in one setting."""


def in_format(name: str, format: int) -> str:
    """Return the name of a copy of a deployment that opens sessions in a given format."""
    earlier = f"{name}_in_format_{format}"
    DEPLOYMENTS[earlier] = replace(DEPLOYMENTS[name], format=format)
    return earlier
