"""Tools and workflows for the tests of runs: a write that fails until it may succeed, a person, a foreach."""

import json
from pathlib import Path
from typing import Any

TOOLS = '''
from pathlib import Path

from antiphon import tool


@tool(effect="read")
def weigh(grams: int) -> dict[str, int]:
    """Weigh something."""
    if grams == 7:
        raise ValueError("seven grams are too few")
    return {"grams": grams}


@tool(effect="write")
def sell(soup: str) -> dict[str, str]:
    """Sell a soup."""
    if not Path(__file__).with_name("open").exists():
        raise ValueError("the line broke")
    return {"sold": soup}
'''
WORKFLOWS: dict[str, Any] = {
    "domain": "soups",
    "version": "1",
    "workflows": {
        "weigh_all": {
            "description": "Weigh one, then twenty.",
            "params": {"grams": {"type": "int", "required": True}, "note": {"type": "str"}},
            "graph": {
                "one": {"call": "weigh", "args": {"grams": "$grams"}},
                "each": {
                    "type": "foreach",
                    "depends_on": ["one"],
                    "items": "range(0, 20)",
                    "as": "n",
                    "concurrency": 4,
                    "on_item_error": "skip",
                    "step": {"call": "weigh", "args": {"grams": "$n"}},
                },
            },
            "output": {"grams": "$one.grams", "note": "$note", "weighed": "$each.length"},
        },
        "give_up": {
            "description": "Fail.",
            "graph": {"no": {"type": "error", "message": "There is no soup."}},
        },
        "ask_first": {
            "description": "Ask a person.",
            "graph": {
                "cook": {
                    "type": "yield",
                    "message": "Which soup?",
                    "expects": {"soup": {"type": "str", "enum": ["pea", "lentil"]}, "grams": "int"},
                },
            },
        },
        "sell_one": {
            "description": "Sell a soup.",
            "graph": {
                "first": {"call": "weigh", "args": {"grams": 1}},
                "sale": {"call": "sell", "depends_on": ["first"], "args": {"soup": "pea"}},
            },
            "output": {"sold": "$sale.sold"},
        },
    },
}


def write_soups(folder: Path) -> None:
    """Write the tools as `soups.py` and the workflows as `soups.yaml`."""
    (folder / "soups.py").write_text(TOOLS)
    (folder / "soups.yaml").write_text(json.dumps(WORKFLOWS))
