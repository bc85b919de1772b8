"""Decisions about workflow runs: what begins, what is tried again, what is undone, and when a run is over. Pure.

decide.py      (run, what happened) -> what changes, and commands; read this first
messages.py    what can happen to a run, and the commands that a decision gives
state.py       a run as it is kept between decisions: the nodes that have begun, and little about each
plan.py        a run's compiled workflow, with what is known of its tools
turn.py        one decision under way: reads the run, collects changes
begin.py       a node begins, by its type
settle.py      a node has ended: its dependents, its parent, its workflow
failing.py     a node has failed: retry, fallback, or the end of its workflow
stopping.py    nothing new begins; what is in flight is waited for
undo.py        what was done is undone, in reverse order
ending.py      how a run ends, and its output
resuming.py    a run that has ended goes on
"""
