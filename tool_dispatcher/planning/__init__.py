"""`_plan`: the workflows and recipes that serve a goal, or a proposal for a new workflow.

planner.py     the tool
ranking.py     the workflows and recipes that serve a goal, and the params that the goal does not give. Pure
proposal.py    a proposed workflow for a goal that no workflow serves. Pure
"""
