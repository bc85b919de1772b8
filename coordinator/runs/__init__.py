"""Runs: sessions whose next step comes from a workflow. The pure decisions about the graph are in coordinator/workflows.

handlers.py    the async shell: load the run, decide, say what is to be committed; read this first
step.py        one event of a run: what it means for the graph, and what the graph's commands mean for the bus. Pure
opening.py     a query becomes a run, or is answered at once. Pure
state.py       a run between decisions, and what one of them changes in it. Pure
memory.py      the runs that this process has in memory, and the values that decisions read
results.py     the result that an event of the log has brought. Pure
ending.py      the answer of a run. Pure
"""
