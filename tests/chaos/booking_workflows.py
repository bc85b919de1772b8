"""A workflow for each type of node, of calls that write; every call names its node's path to the service."""

from typing import Any

from antiphon import workflows

_CANCEL = "cancel"


def _call(tool: str, path: str, *after: str, is_undone: bool = False, **more: Any) -> dict[str, Any]:
    arguments = {"node": path, **more.pop("args", {})}
    undo = {"compensate": {"call": _CANCEL, "args": {"node": path}}} if is_undone else {}
    return {"call": tool, "args": arguments, "depends_on": list(after), **undo, **more}


GRAPHS: dict[str, dict[str, Any]] = {
    "call": {"a": _call("reserve", "a"), "b": _call("book", "b", "a"), "c": _call("reserve", "c", "b")},
    "workflow": {
        "a": _call("reserve", "a", is_undone=True),
        "in": {"workflow": "inner", "depends_on": ["a"]},
        "z": _call("reserve", "z", "in"),
    },
    "branch": {
        "a": _call("reserve", "a"),
        "way": {"type": "branch", "depends_on": ["a"], "on": [{"when": "$a.node == 'a'", "goto": "b"}]},
        "b": _call("reserve", "b"),
        "z": _call("book", "z", "b"),
    },
    "parallel": {
        "a": _call("reserve", "a", is_undone=True),
        "all": {
            "type": "parallel",
            "depends_on": ["a"],
            "branches": {
                "x": _call("book", "all/x", is_undone=True),
                "y": _call("reserve", "all/y", is_undone=True),
                "kept": _call("reserve", "all/kept"),
                "no": {"call": "decline", "args": {"node": "all/no"}},
            },
        },
    },
    "foreach": {
        "each": {
            "type": "foreach",
            "items": "range(0, 6)",
            "as": "n",
            "concurrency": 2,
            "step": _call("reserve", "each/$n"),
        },
        "z": _call("book", "z", "each"),
    },
    "yield": {
        "a": _call("reserve", "a"),
        "ask": {"type": "yield", "depends_on": ["a"], "message": "Go on?", "expects": {"ok": "bool"}},
        "z": _call("reserve", "z", "ask", when="$ask.ok"),
    },
    "wait": {
        "a": _call("reserve", "a"),
        "pause": {"type": "wait", "depends_on": ["a"], "seconds": 0.4},
        "z": _call("book", "z", "pause"),
    },
    "retry": {
        "a": _call("book", "a", args={"refusals": 2}, on_error={"retry": 3, "delay": 250}),
        "z": _call("reserve", "z", "a"),
    },
    "compensate": {
        "a": _call("reserve", "a", is_undone=True),
        "b": _call("book", "b", "a"),
        "no": {
            "call": "decline",
            "args": {"node": "no"},
            "depends_on": ["b"],
            "on_error": {"fallback": "undo"},
        },
        "undo": {
            "type": "compensate",
            "steps": [
                {"call": _CANCEL, "args": {"node": "$b.node"}},
                {"call": _CANCEL, "args": {"node": "$a.node"}},
            ],
        },
    },
}
_INNER = {
    "i": _call("book", "in/i", is_undone=True),
    "j": _call("reserve", "in/j", "i"),
}


def specification() -> workflows.Specification:
    """Return all of them as one."""
    graphs = {**GRAPHS, "inner": _INNER}
    listed = {
        f"by_{name}" if name != "inner" else name: {"description": "A test.", "graph": g}
        for name, g in graphs.items()
    }
    return workflows.build({"domain": "chaos", "version": "1", "workflows": listed})
