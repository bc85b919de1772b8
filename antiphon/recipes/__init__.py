"""Recipes: workflow specifications learned from sessions that succeeded.

chain.py          a session's recording -> the question, and the calls that succeeded
values.py         the search for a value in a question and in results
binding.py        the source of each argument: the question, an earlier result, or neither
sources.py        the kinds of sources: a result, a param, a literal
params.py, graph.py   the params and the nodes of a workflow file
learn.py          chains -> a specification, which makes the same calls on the same results
recent.py         the newest sessions -> recipes
follow.py         each session once it is complete -> recipes, until it is ended
store.py          recipes in Redis
"""
