"""`sql_query`: SQL over earlier outputs of a workflow; DuckDB runs it in a child process.

query.py       the tool, and its error for each ending
processes.py   the child processes: started ahead, used once, killed and reaped
limits.py      the limits of a query
child.py       the child process: it limits itself, and answers one request
database.py    DuckDB without outside access: tables in, one SELECT, JSON out
tables.py      outputs as tables with columns; pure
"""
