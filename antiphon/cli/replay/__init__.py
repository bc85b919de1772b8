"""`antiphon replay`: the operations on recordings. One file per verb."""

from antiphon.cli.on_demand import group_of

_SUMMARIES = {
    "verify": "Verify that the current code makes the recorded decisions, without network, Redis or a model.",
    "update": "Rewrite recordings as the current code would write them, after showing every difference.",
    "diff": "Show the differences between two recordings, without ids and times.",
    "context": "Show the context of the model in each round, and check that it contained the answer's sources.",
    "fork": "Continue a recorded session live from one of its events, with a change.",
    "call": "Repeat a recorded model call with several models, and compare the replies with the recorded one.",
    "rerun": "Run recorded sessions again in the current pipeline, with the recorded replies of the model and "
    "the tools.",
    "compare": "Ask the same questions with several plans, and compare answers, tokens, cost and time.",
}

COMMANDS = {verb: (f"{__name__}.{verb}:{verb}", summary) for verb, summary in _SUMMARIES.items()}

app = group_of(
    COMMANDS,
    "Compare recorded sessions with the current code, and continue from them.",
)
