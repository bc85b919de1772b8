"""`sql_query`: SQL over earlier outputs of a workflow, run by DuckDB in a process of its own.

query.py       the tool: checks, waits, and what each ending means
processes.py   child processes: started ahead, used once, killed and reaped
limits.py      what a query may use
child.py       the child: its limits, its one request, its one answer
database.py    DuckDB, locked: tables in, one SELECT, JSON out
tables.py      outputs as tables with columns; pure
"""
