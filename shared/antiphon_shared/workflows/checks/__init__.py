"""Checks of workflows beyond their form. Pure.

flow.py            a workflow as the checks see it: its uses of names, and the providers of each name
edges.py           depends_on, goto, fallback: their targets, and cycles
names.py           names that clash, and params
references.py      references: names, missing edges, values that may be missing, unused names
texts.py           conditions, items, patterns
nodes.py           the keys of one node against each other
tools.py           calls against the catalogue
arguments.py       arguments against a schema
sub_workflows.py   workflows inside workflows

order.py, one folder up, has the order of the nodes, and the nodes that certainly succeeded before another.
"""
