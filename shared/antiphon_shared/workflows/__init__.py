"""Workflows: a domain team's processes, as values that a run is decided on. Pure.

specification.py     a workflow file: domain, workflows, params
nodes.py             the kinds of nodes in a graph
activations.py       the edges by which a node activates another one
params.py            values that are given by name, and whether a value fits
references.py        $name.path in texts, and their values
condition.py         the conditions of `when`; condition_syntax.py reads them
items.py             the items of a foreach
sql.py               the SQL of a sql_query: its tables and its references
problem.py           errors and warnings about a workflow file
form.py              text in, specification or problems of form out
validate.py          a specification checked against itself and the tools; checks/ has one subject per file
order.py             the order of nodes, and the nodes that have certainly succeeded when another runs
file.py              files and folders, read and checked: the only module that is not pure
write.py             a specification as the text of a workflow file
recipe.py            a workflow that was learned from sessions, as it is stored
graph.py             a compiled workflow: its edges, with sub-workflows inlined
outline.py           a workflow in words
as_tool.py           a workflow as the tool that a model sees
data_flow.py         the tools whose results workflows pass on, as hints for models
publication.py       the workflows that can be run by name
"""
