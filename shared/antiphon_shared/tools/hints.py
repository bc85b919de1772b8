"""Hints from a tool's contract for models, in short lines after the tool's description. Pure.

The lines cost tokens in every round: they hold only what changes how a model calls the tool, and nothing
twice.
"""

import re
from collections.abc import Iterable

from antiphon_shared.tools.contract import (
    CHANGES,
    ONE_AFTER_ANOTHER,
    UNKNOWN_OUTCOME,
    Contract,
    Dependency,
)


def describe(
    text: str,
    *,
    requires: str | Dependency | Iterable[str | Dependency] = (),
    next: str | Iterable[str] = (),
    notes: str | Iterable[str] = (),
) -> str:
    """Return a tool's description with hints for the model, a line each.

    `requires`: tools to call before, by name or with the fields needed, or other requirements, in words.
    `next`: tools that are usually called after. `notes`: sentences. Hints that the text holds already are
    left out.
    """
    needed = (requires,) if isinstance(requires, str | Dependency) else requires
    lines = [_required(one) for one in needed if not _has_label(text, "Requires", _name(one))]
    following = [name for name in _each(next) if not _has_label(text, "Next", name)]
    lines += [f"Next: {', '.join(following)}."] if following else []
    lines += [note for note in _each(notes) if note not in text]
    return "\n".join((text.strip(), *dict.fromkeys(lines)))


def published(text: str, contract: Contract) -> str:
    """Return a tool's description as the model sees it: the author's text, and the hints of the contract."""
    notes: list[str] = []
    if contract.batch is not None and not _names(text, contract.batch.tool):
        notes.append(f"For more than one at once, call {contract.batch.tool}.")
    if contract.mode == "sequential-only":
        notes.append(ONE_AFTER_ANOTHER)
    if contract.rounds:
        notes.append(f"Only in round {_listed([str(round) for round in sorted(contract.rounds)], 'or')}.")
    if contract.effect == "write" and not contract.idempotent and not contract.reconciles:
        notes.append(UNKNOWN_OUTCOME)
    elif contract.effect == "write" and contract.mode != "sequential-only":
        notes.append(CHANGES)
    return describe(text, requires=contract.depends_on, next=contract.next, notes=notes)


def _required(one: str | Dependency) -> str:
    if isinstance(one, Dependency):
        fields = _listed([f"`{field}`" for field in one.required_fields], "and")
        return f"Requires: {one.tool} first{f'; its {fields}' if fields else ''}."
    is_tool = re.fullmatch(r"[\w-]+", one)
    return f"Requires: {one} first." if is_tool else f"Requires: {one.strip().rstrip('.')}."


def _name(one: str | Dependency) -> str:
    """Return the tool's name in a hint, without its brackets: `search` of `search (needs id)`."""
    return one.tool if isinstance(one, Dependency) else one.partition(" (")[0]


def _has_label(text: str, label: str, name: str) -> bool:
    """Return whether a line of the text begins with the label and contains the name."""
    lines = (line.strip() for line in text.splitlines())
    return any(line.startswith(f"{label}:") and _names(line, name) for line in lines)


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _each(words: str | Iterable[str]) -> Iterable[str]:
    return (words,) if isinstance(words, str) else words


def _listed(words: list[str], last: str) -> str:
    *others, final = words or [""]
    return f"{', '.join(others)} {last} {final}" if others else final
