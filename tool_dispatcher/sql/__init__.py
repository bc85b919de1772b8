"""`sql_query`: SQL over earlier outputs of a workflow, run by DuckDB in its own process.

query.py       the tool: checks, waits, and the error for each ending
processes.py   child processes: started ahead, used once, killed and reaped
limits.py      limits of a query
child.py       the child: its limits, its one request, its one answer
database.py    DuckDB, locked: tables in, one SELECT, JSON out
tables.py      outputs as tables with columns; pure
"""
