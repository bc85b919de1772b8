"""Every form in which a model writes its note."""

from tests.recordings.scenario import Scenario, fails, says, use

_FORMS = (
    "Plain words.\n<note>\nconcluded: The lighthouse of Holm is 41 metres high [F1]\nopen: the mast?\n</note>",
    '<note>{"concluded": ["The mole is old [F1]"], "open": "the mast\\nthe quay", "doubts": {"of": [["a", {"b": 1}]]},'
    ' "plan": null, "other": 1, "goal": 3}</note>',
    '<note>{"note": {"open": ["who keeps \\"it\\"?", "why"], "answered": ["How high? 41 metres [F1]"]',
    '<note>{"odd": ["x"], "y": 1</note>',
    '<note>{"odd": ["x"]}</note>',
    "```note\nopen: what the quay is made of\nplan: look\n```\nand ``` here",
    "```\n<note>\nopen: inside of a block\n</note>\n```\n\n```python\nprint(1)\n```\n~~~\nx\n```\n~~~",
    "<note>\nopen:\n- the mole\n* the pier\n2. the quay\ngoes on here\n\nconcluded\nplan:\nlook at the mole\nthen rest",
    "Some words\n<note>\n**Open questions**:\n\n## Doubts\nwhether it is so\n\nAnd this is no note any more.",
    "<note>\n<open>who built it?</open>\n<doubt>all of it</doubt>\n```\nconcluded: none\n```\nopen: ...\n</note>",
    "<note></note>\n<note>nothing of the kind</note> `<note>` </note> <note>only words, no key at all",
    "<note>\ngoal: the height of the mast in feet\nconstraint: only measured heights\nanswered: the mole? It is old [F1]"
    "\n</note>\n<note>\ngoal: the height of the mast in metres\nopen: which mast?\n</note>",
    "<note>\nanswered: which mast? The old one\nanswered: [F1]? yes\nopen: none yet\n" + "open: x\n" * 3 + "</note>",
    "<note>\n" + "".join(f"open: question number {n}\n" for n in range(24)) + "concluded: " + "long " * 200 + "[F1]</note>",
)  # fmt: skip  # a table
_PAGES = ("claims of 2021", "denials", "boat 2021", "code", "dialogue", "headings", "states")


def _round(n: int, form: str) -> tuple:  # type: ignore[type-arg]
    return says(form, use("open_page", name=_PAGES[n % len(_PAGES)]), use("find", query=f"mast number {n}"))  # type: ignore[return-value]


def _sessions(name: str, forms: tuple[str, ...]) -> list[Scenario]:
    rounds = tuple(_round(n, form) for n, form in enumerate(forms))
    options = {"max_rounds": 20, "max_tool_calls": 100}
    return [
        Scenario(
            f"notes_{name}",
            f"How high is the mast, and what is the mole made of (notes {name})?",
            (*rounds, says("It is high [F1].")),
            options=options,
            deployment="pages",
        ),
        Scenario(
            f"notes_{name}_and_no_answer",
            f"How high is the mast, and of what is the mole made (notes {name})?",
            (*rounds, *(fails(401, "authentication_error"),) * 2),
            ends="model_unavailable",
            options=options,
            deployment="pages",
        ),
    ]


SCENARIOS = tuple(
    one for n in range(0, len(_FORMS), 3) for one in _sessions(f"{n // 3 + 1}", _FORMS[n : n + 3])
)
