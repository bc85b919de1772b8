"""Runs: sessions whose next step comes from a workflow. Decisions about the graph are in coordinator/workflows.

handlers.py    the async shell: load the run, decide, say what is to be committed; read this first
step.py        what follows from one event of a run. Pure
happening.py   what an event means for the graph. Pure
commands.py    what a command of the graph means for the bus. Pure
making.py      a step under way: what has come of the event so far
opening.py     a query becomes a run, or is answered at once. Pure
state.py       a run between decisions, and what one of them changes in it. Pure
memory.py      the runs that this process has in memory, and the values that decisions read
results.py     the result that an event of the log has brought. Pure
ending.py      the answer of a run. Pure
"""
