"""The tool dispatcher: it runs batches of tool calls, and returns one result per call, for a failed call too.

It consumes `tools.requested`, emits `tools.completed`, and publishes the catalogue of its tools. Read
`executor.py` first:

    authoring/    the API for authors of tools
    access/       permissions of a session
    batch/        the plan of a batch (pure)
    running/      the run of one unit, from its arguments to its results; write.py makes a write
    idempotency/  writes that happen once
    bounds/       limits shared by all processes
    results/      results as they are stored and sent
    planning/     `_plan`: workflows for a goal
    check/        `antiphon tools check`
    sql/          `sql_query` of workflows
"""
