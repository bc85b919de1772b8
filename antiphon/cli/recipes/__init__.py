"""`antiphon recipes`: workflows learned from sessions that succeeded.

learn.py       learn
stored.py      list, show, forget
"""

from antiphon.cli.on_demand import group_of

_STORED = "antiphon.cli.recipes.stored"
COMMANDS = {
    "learn": "antiphon.cli.recipes.learn:learn_recipe",
    "list": f"{_STORED}:list_recipes",
    "show": f"{_STORED}:show",
    "forget": f"{_STORED}:forget",
}

app = group_of(
    COMMANDS,
    "Learn workflows from successful sessions, and manage these recipes.",
)
