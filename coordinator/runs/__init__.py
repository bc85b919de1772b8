"""Runs: sessions that follow a workflow. Decisions about the graph are in coordinator/workflows.

handlers.py          the async shell: load the run, decide, return the outcome to commit; read this first
step.py              the decision on one event of a run. Pure
graph_event.py       the meaning of an event for the graph. Pure
commands.py          the effects of a command of the graph on the bus. Pure
step_builder.py      a step in progress: the effects of the event so far
opening.py           a query becomes a run, or is answered at once. Pure
state.py             a run between decisions, and the change that one of them makes. Pure
memory.py            the runs in this process's memory, and the values that decisions read
results.py           the result in an event of the log. Pure
complete_results.py  the complete results of an event that holds only the beginning of large ones
ending.py            the answer of a run. Pure
"""
