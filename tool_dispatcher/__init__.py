"""The tool dispatcher: runs each batch of tool calls and returns one result per call, a failure included.

Consumes `tools.requested`; emits `tools.completed`. Publishes the catalogue of its tools. Read `executor.py`
first:

    authoring/    the API for authors of tools
    access/       permissions of a session
    batch/        the plan of a batch (pure)
    running/      the run of one unit, from its arguments to its results; write.py makes a write
    idempotency/  writes that happen once
    bounds/       limits shared by all processes
    results/      results as they are stored and sent
    check/        `antiphon tools check`
    sql/          `sql_query` of workflows
"""
