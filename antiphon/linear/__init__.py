"""Plan A: the round loop in one process, with the whole message history. Baseline and fallback.

    response = await ask_linear("Which course discusses idempotency keys?", ["examples.courses"])

It calls the model, runs the tools, appends their results, and calls the model again, until the model calls no tool
or a limit is reached: read `rounds.py`. It uses no Redis, so if the process dies, the answer is lost. Limits,
tools, facts and the form of the answer are those of the pipeline, so that the two can be compared. It lacks:

    exactly-once     a write whose process dies may run again when the query is asked again
    recovery         a model that fails permanently ends the rounds; no shorter prompt, no other model
    shared limits    rates, breakers and caches are not shared with other processes
    bounded context  the history grows with every round, up to the model's limit
    choice of tools  all are offered, however many there are
    people           no approvals and no questions to the user; a conversation is not continued
"""

from antiphon.linear.ask import OneProcessPlan, ask_linear
from antiphon.linear.states import LinearResponse, RoundState, Statistics

__all__ = ["LinearResponse", "OneProcessPlan", "RoundState", "Statistics", "ask_linear"]
