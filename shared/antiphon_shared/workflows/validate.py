"""The validation of a specification against itself and the catalogue of tools. Pure."""

from collections.abc import Iterator

from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.checks.edges import check_edges
from antiphon_shared.workflows.checks.flow import flow_of
from antiphon_shared.workflows.checks.names import check_names, check_params
from antiphon_shared.workflows.checks.nodes import check_nodes
from antiphon_shared.workflows.checks.references import check_references, check_unused
from antiphon_shared.workflows.checks.sub_workflows import check_sizes, check_sub_workflows
from antiphon_shared.workflows.checks.texts import check_texts
from antiphon_shared.workflows.checks.tools import check_contracts, check_sql_calls, check_tools
from antiphon_shared.workflows.problem import Problem
from antiphon_shared.workflows.specification import Specification

_CHECKS = (
    check_params,
    check_nodes,
    check_edges,
    check_names,
    check_texts,
    check_references,
    check_sql_calls,
    check_unused,
)


def problems_of(specification: Specification, catalogue: Catalogue | None = None) -> Iterator[Problem]:
    """Yield all problems of a specification. Without a catalogue, calls are not checked against their tools."""
    yield from check_sizes(specification)
    flows = {name: flow_of(specification, name) for name in specification.workflows}
    for flow in flows.values():
        yield from flow.problems
        for check in _CHECKS:
            yield from check(flow)
        yield from check_sub_workflows(flow, flows)
        if catalogue is not None:
            yield from check_tools(flow, catalogue)
    if catalogue is not None:
        yield from check_contracts(flows.values(), catalogue)
