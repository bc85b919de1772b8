"""What is checked of workflows beyond their form. Pure.

flow.py            a workflow as the checks see it: its uses of names, and what provides each name
order.py           what runs before what, and what has certainly succeeded when a node runs
edges.py           depends_on, goto, fallback: whether they lead somewhere, and nowhere in a circle
names.py           names that clash, and params
references.py      references: names, missing edges, what may be missing, what is unused
texts.py           conditions, items, patterns
nodes.py           what the keys of one node ask of each other
tools.py           calls against the catalogue
arguments.py       arguments against a schema
sub_workflows.py   workflows inside workflows
"""
