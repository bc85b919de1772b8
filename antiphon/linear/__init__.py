"""Plan A: the round loop in one process, with the whole message history. Baseline and fallback.

    response = await ask_linear("Which course discusses idempotency keys?", ["examples.courses"])

It asks, runs the tools, appends what they returned, and asks again, until the model asks for no tool or a limit is
reached: read `rounds.py`. No Redis, no events, nothing but this process; when it dies, the answer is lost. Limits,
tools, facts and the answer's form are those of the pipeline, so that the two can be compared. What is missing:

    exactly-once     a write whose process dies may be made again by whoever asks again
    recovery         a model that fails for good ends the rounds; no shorter prompt, no other model
    shared limits    rates, breakers and caches are nobody else's
    bounded context  the history grows with every round, up to where the model takes no more
    choice of tools  all are offered, however many there are
    people           nobody can be asked to approve a call, or to answer a question; a conversation is not gone on with
"""

from antiphon.linear.ask import OneProcessPlan, ask_linear
from antiphon.linear.states import LinearResponse, RoundState, Statistics

__all__ = ["LinearResponse", "OneProcessPlan", "RoundState", "Statistics", "ask_linear"]
