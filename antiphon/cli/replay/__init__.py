"""`antiphon replay`: the operations on recordings. One file per verb."""

from antiphon.cli.on_demand import group_of

VERBS = ("verify", "update", "diff", "context", "fork", "call", "rerun", "compare")

app = group_of(
    {verb: f"{__name__}.{verb}:{verb}" for verb in VERBS},
    "Compare recorded sessions with the current code, and continue from them.",
)
