"""`antiphon recipes`: workflows learned from sessions that succeeded.

learn.py       learn
stored.py      list, show, forget
"""

from antiphon.cli.on_demand import group_of

_STORED = "antiphon.cli.recipes.stored"
COMMANDS = {
    "learn": (
        "antiphon.cli.recipes.learn:learn_recipe",
        "Turn the calls of finished sessions into a workflow, and store it as a recipe.",
    ),
    "list": (f"{_STORED}:list_recipes", "List the stored recipes, the most recently learned or used first."),
    "show": (f"{_STORED}:show", "Print a recipe as a workflow file."),
    "forget": (f"{_STORED}:forget", "Remove recipes."),
}

app = group_of(
    COMMANDS,
    "Learn workflows from successful sessions, and manage these recipes.",
)
