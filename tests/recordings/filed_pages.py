"""Pages of facts that contradict each other or seem to, and of tables in every form."""

import json
from pathlib import Path
from typing import Any

from tests.shared.memory.filing.test_tables import FORMS, cities

_OF_A_PAGE = 61
_ROWS = 6
_PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "shared/memory/filing/contradictions.jsonl")
    .read_text()
    .splitlines()
]


def _document(side: dict[str, Any]) -> Any:
    return side.get("record") or {name: side[name] for name in ("title", "text") if name in side}


_AMOUNTS = tuple(
    f"The Aker Mole {amount}."
    for amount in (
        "opens at 3 pm",
        "opens at 10:30 pm",
        "opens at 12.30",
        "opens at 7pm",
        "costs $5k",
        "costs 7,50 euros",
        "has two hundred and six berths",
        "has twenty five berths",
        "has 1.2.3 berths",
        "is 2 914 metres long",
    )
)
_ODD_TABLES = (
    "mole,lamps\n1,2,3\n4\n\nA line between.\n",
    '{"mole": 1}\n{"mole": \n{"mole": 3}\n',
    "{}\n{}\n{}\n",
    "Ann, Bob\nCara, Dan\nEve, Finn\nGro, Hal\n",
    'mole,lamps\n"1,2\n3,4\n',
    "<table><tr><th>mole</th><th>lamps</th></tr><tr><td>1<br>x</td><td>2<table><tr><td>9</td></tr></table></td></tr>"
    "<p>Between.</p><tr><td>3</td><td>4</td></tr></table>",
    "<table><tr><td>1</td></tr><![mole[ <table>",
    "| mole | lamps |\n| --- |\n| 1 | 2 |\n",
)
_LONG_ROWS = 120
PAIRED = tuple((f"one side from {at}", f"other side from {at}") for at in range(0, len(_PAIRS), _OF_A_PAGE))
"""The names of pages, in pairs, whose facts are compared."""
TABLES = (*(f"table of {form}" for form in FORMS), "odd tables", "long table", "one amount", "other amounts")
FILED_PAGES: dict[str, Any] = {
    **{
        f"{side} side from {at}": [_document(pair[side]) for pair in _PAIRS[at : at + _OF_A_PAGE]]
        for side in ("one", "other")
        for at in range(0, len(_PAIRS), _OF_A_PAGE)
    },
    **{f"table of {form}": write(cities(_ROWS)) for form, write in FORMS.items()},
    "odd tables": [f"{table}\n{'A mole stands there, of grey stone. ' * 12}" for table in _ODD_TABLES],
    "long table": {"city": "Vardby", **FORMS["columns and rows"](cities(_LONG_ROWS))},
    "one amount": [{"text": text} for text in _AMOUNTS],
    "other amounts": [{"text": text} for text in _AMOUNTS[::-1]],
}
