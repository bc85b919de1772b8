"""What recorded runs would do by another specification of their workflow.

found.py       what is found: the first node that would go another way, and where that leads
held.py        one recorded run, held against a specification; read this first
recorded.py    a recorded run: its decisions in their order, and which node each event is about
rehearsal.py   the same run, decided by the other specification
rest.py        after the first difference: how far the recorded results lead
acts.py        what a decision does, by node, without what follows from the specification's hash alone
first.py       the first of the differences between what two decisions do
limits.py      limits of time, which count by whether they would have been reached
many.py        many recordings, in one process or in several
sums.py        their sum: which share their first difference
"""
