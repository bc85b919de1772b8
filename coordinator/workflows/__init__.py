"""Decisions about workflow runs: beginning, retries, undoing and the end of a run. Pure.

decide.py      (run, event) -> changes and commands; read this first
messages.py    the events of a run, and the commands of a decision
state.py       a run between decisions: the nodes that have begun, with little data about each
plan.py        a run's compiled workflow, with its tools' properties
turn.py        one decision in progress: reads the run, collects changes
begin.py       a node begins, by its type
settle.py      a node has ended: its dependents, its parent, its workflow
failing.py     a node has failed: retry, fallback, or the end of its workflow
stopping.py    new nodes do not begin; calls in flight are waited for
undo.py        completed writes are undone, in reverse order
ending.py      the end of a run, and its output
resuming.py    a run that has ended is resumed
"""
