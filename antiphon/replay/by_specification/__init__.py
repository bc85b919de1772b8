"""The rehearsal of recorded runs with another specification of their workflow.

result.py            the first node that would take another course, and where that leads
compared_run.py      the comparison of one recorded run with a specification; read this first
recorded_run.py      a recorded run: its decisions in order, and the node of each event
rehearsal.py         the same run, decided by the other specification
remaining_steps.py   the steps after the first difference, as far as the recorded results lead
after_fork.py        the state in which a forked run resumes, from its record
acts.py              the acts of a decision, by node
node_differences.py  the differences between the acts of two decisions, by node
limits.py            time limits, which count only if they would have expired
many.py              many recordings, in one or several processes
sums.py              the recordings, grouped by their first difference
"""
