"""Recipes: workflow specifications learned from sessions that succeeded.

chain.py          a session's recording -> the question, and the calls that succeeded
values.py         what a value is recognised by, in a question and in results
binding.py        where each argument comes from: the question, an earlier result, or nowhere
sources.py        the ways there are: a result, a param, a literal
params.py, graph.py   the params and the nodes of a workflow file
learn.py          chains -> a specification, which makes the same calls when it is run over the same results
replay_check.py   whether it does
recent.py         the newest sessions -> recipes
follow.py         each session once it is complete -> recipes, until it is ended
store.py          recipes in Redis
"""
