"""The opening of a run, which pins its specification and the tools that it calls. Pure."""

from collections.abc import Callable, Iterator, Mapping

from antiphon_shared.events import AnyEvent, PinnedTool, QuerySubmitted, RunOpened
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.as_tool import tools_called
from antiphon_shared.workflows.graph import Graph, compile_graph
from antiphon_shared.workflows.nodes import ReasonNode
from antiphon_shared.workflows.specification import Specification

from coordinator.decision import Opening
from coordinator.offer import contract_of
from coordinator.opening import Authorization, authorization_of
from coordinator.runs.state import Beginning
from coordinator.workflows.plan import pinned_tool

NO_TIME_S = 1.0
"""The timeout of a run that cannot begin."""
_CANCELLED = "It was cancelled before it began"
"""The problem of a run whose query was cancelled before its turn, without the reason."""
_REASON_CHARACTERS = 300
_NONE_PUBLISHED = "None is published: publish its file with `antiphon workflows publish FILE`."


def opened_run(
    event: AnyEvent,
    query: QuerySubmitted,
    specification: Specification | None,
    specification_hash: str,
    *,
    published: Mapping[str, str],
    opening: Opening,
    catalogue: Catalogue,
    compiled: Callable[[Specification, str], Graph] = compile_graph,
) -> RunOpened:
    """Return the inputs of a run's decisions, or the reason why it cannot begin.

    Args:
        event: The query.submitted.
        query: The data of the event, which names the workflow.
        specification: The specification that the query names, or the published one, or None.
        specification_hash: Its hash.
        published: The names of published workflows, for suggestions.
        opening, catalogue: The values that a session is opened with, and the available tools.
        compiled: Returns a workflow of the specification as a graph, possibly from a cache.
    """
    call = query.options.workflow
    assert call is not None, "only a query of a workflow becomes a run"
    authorization = authorization_of(query.grant, event.subject, event.time, opening.grant, catalogue)
    graph = None
    if opening.cancelled_because is not None:
        problem = _cancelled(opening.cancelled_because)
    elif specification is None or call.name not in specification.workflows:
        problem = _no_workflow(call.name, specification, published)
    else:
        graph = compiled(specification, call.name)
        problem = " ".join(_problems(graph, catalogue, authorization))
    names = tools_called(graph) if graph else ()
    return RunOpened(
        workflow=call.name,
        specification=specification_hash,
        catalogue=opening.catalogue,
        tools={name: _pinned(catalogue, name) for name in names if name in catalogue.by_name},
        timeout_s=graph.scopes[""].workflow.timeout_s if graph else NO_TIME_S,
        person_s=opening.limits.person_s,
        tenant=authorization.tenant,
        grant_refused=opening.grant.problem,
        is_grant_ignored=opening.grant.is_ignored,
        problem=problem,
    )


def _cancelled(because: str) -> str:
    reason = one_line(because, _REASON_CHARACTERS)
    return f"{_CANCELLED}: {reason}" if reason else f"{_CANCELLED}."


def cancellation_in(problem: str) -> str | None:
    """Return the reason in the problem of a run that was cancelled before it began; None for another problem."""
    return problem[len(_CANCELLED) :].lstrip(":. ") if problem.startswith(_CANCELLED) else None


def _no_workflow(name: str, specification: Specification | None, published: Mapping[str, str]) -> str:
    names = sorted(specification.workflows if specification else published)
    return f"{unknown_workflow(name)} {did_you_mean(name, names, _NONE_PUBLISHED)}"


def unknown_workflow(name: str) -> str:
    """Return the beginning of the problem of a run whose workflow does not exist."""
    return f"There is no workflow {name!r}."


def beginning_of(event: AnyEvent, query: QuerySubmitted, opened: RunOpened) -> Beginning:
    """Return the fixed inputs of the run's decisions."""
    grant = "" if opened.is_grant_ignored else query.grant
    return Beginning(opened=opened, at=event.time, grant=grant, parent=query.parent)


def _pinned(catalogue: Catalogue, name: str) -> PinnedTool:
    tool = catalogue.by_name[name]
    contract = contract_of(tool)
    if contract is None:
        return PinnedTool(is_write=tool.effect == "write", approval=tool.approval)
    return pinned_tool(tool, contract)


def _problems(graph: Graph, catalogue: Catalogue, authorization: Authorization) -> Iterator[str]:
    if authorization.problem:
        yield f"Its grant could not be used: {authorization.problem}"
    else:
        yield from _problems_of_tools(graph, catalogue, authorization)
    for path, one in graph.nodes.items():
        for name in one.node.tools if isinstance(one.node, ReasonNode) else ():
            if (tool := catalogue.by_name.get(name)) is not None and tool.effect == "write":
                yield f"The node {path!r} gives a model the tool {name!r}, which writes."


def _problems_of_tools(graph: Graph, catalogue: Catalogue, authorization: Authorization) -> Iterator[str]:
    for name in tools_called(graph):
        contract = contract_of(catalogue.by_name.get(name))
        if name not in catalogue.by_name:
            yield f"There is no tool {name!r}."
        elif contract is None:
            yield f"The contract of the tool {name!r} cannot be read."
        elif lacking := sorted(contract.scopes_needed - authorization.scopes):
            yield f"The run's scopes lack {', '.join(lacking)}, which {name!r} needs."
