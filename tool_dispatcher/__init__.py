"""The tool dispatcher: runs one batch of tool calls, and answers each of them, whatever happens.

Consumes `tools.requested`; emits `tools.completed`. Publishes the catalogue of its tools. Read `handlers.py` first:

    authoring/    what an author of tools works with
    access/       what a session may do
    batch/        the plan of a batch, pure
    running/      one unit of it, from its arguments to its results
    idempotency/  writes that happen once
    bounds/       limits that hold over all processes
    results/      what came of a run, as it travels
    check/        `antiphon tools check`
    sql/          `sql_query` of workflows
"""
