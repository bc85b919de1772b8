"""The result of a hunt, as text and JSON: shares with their intervals by folder, and survivors by cause."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from math import sqrt
from pathlib import Path
from typing import Any

from tests.mutants.hunt import Fate
from tests.mutants.mutant import Mutant

EQUIVALENT = Path(__file__).parent / "equivalent.jsonl"
"""Mutants that no test can detect, each with the reason, as judged by a person."""
_95 = 1.96


def wilson(caught: int, drawn: int) -> tuple[float, float]:
    """Return the bounds of the 95 % confidence interval of a share that was measured on a sample.

    Wilson's interval, which holds for small samples and for shares near 0 and 1.
    """
    if not drawn:
        return 0.0, 1.0
    share, weight = caught / drawn, _95**2 / drawn
    middle = (share + weight / 2) / (1 + weight)
    half = _95 * sqrt(share * (1 - share) / drawn + weight / (4 * drawn)) / (1 + weight)
    return max(0.0, middle - half), min(1.0, middle + half)


def equivalent() -> dict[str, str]:
    """Return the reasons why mutants are equivalent, by key."""
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else ()
    return {one["mutant"]: one["why"] for one in map(json.loads, lines)}


def as_text(fates: Sequence[Fate], with_suite: bool) -> str:
    """Return the table and the survivors as text."""
    known = equivalent()
    rooms = sorted({_package(one) for one in fates})
    rows = [(package, [one for one in fates if _package(one) == package]) for package in rooms]
    rows += [("pure modules", [one for one in fates if one.is_pure]), ("all", list(fates))]
    lines = [
        f"{'':<22}{'drawn':>6}{'no mutant':>10}   {'by replay verify':<24}{'together with the suite' * with_suite}"
    ]
    for package, some in rows:
        real = [one for one in some if one.is_caught or one.mutant.key not in known]
        shares = [_share(real, lambda one: bool(one.verified_by))]
        shares += [_share(real, lambda one: one.is_caught)] * with_suite
        lines.append(
            f"{package:<22}{len(some):>6}{len(some) - len(real):>10}   {''.join(map('{:<24}'.format, shares))}".rstrip()
        )
    for cause, some in by_cause(fates, with_suite, known).items():
        lines += ["", f"{cause}: {len(some)}", *(f"  {_described(one, known)}" for one in some)]
    return "\n".join(lines)


def by_cause(fates: Iterable[Fate], with_suite: bool, known: Mapping[str, str]) -> dict[str, list[Fate]]:
    """Return the survivors by cause."""
    found: dict[str, list[Fate]] = {}
    for one in fates:
        if not one.is_caught:
            found.setdefault(_cause(one, with_suite, known), []).append(one)
    return dict(sorted(found.items()))


def as_json(fates: Sequence[Fate], seed: int) -> dict[str, Any]:
    """Return everything as JSON."""
    return {"seed": seed, "fates": [{**asdict(one), "mutant": _mutant_as_json(one.mutant)} for one in fates]}


def fates_in(path: Path) -> list[Fate]:
    """Return an earlier result."""
    return [
        Fate(**{**one, "mutant": _mutant(one["mutant"])}) for one in json.loads(path.read_text())["fates"]
    ]


def _mutant(written: Mapping[str, Any]) -> Mutant:
    return Mutant(**{**written, "lines": frozenset(written["lines"])})


def _mutant_as_json(mutant: Mutant) -> dict[str, Any]:
    return {**asdict(mutant), "lines": sorted(mutant.lines)}


def _cause(fate: Fate, with_suite: bool, known: Mapping[str, str]) -> str:
    if fate.mutant.key in known:
        return "no mutant: nothing could show it"
    if fate.mutant.is_wording:
        return "words of errors, logs and descriptions"
    if not fate.recordings and not fate.tests:
        return "run by nothing" if with_suite else "run by no recording"
    if not fate.tests and with_suite:
        return "run by recordings alone, and not noticed"
    return "run, and not noticed"


def _described(fate: Fate, known: Mapping[str, str]) -> str:
    why = known.get(fate.mutant.key, f"{fate.recordings} recordings, {fate.tests} tests")
    return f"{fate.mutant}   ({why})"


def _share(fates: Sequence[Fate], is_caught: Callable[[Fate], bool]) -> str:
    caught = sum(map(is_caught, fates))
    if not fates:
        return "-"
    low, high = wilson(caught, len(fates))
    return f"{caught:>4} {caught / len(fates):>5.1%} [{low:.0%}, {high:.0%}]"


def _package(fate: Fate) -> str:
    return fate.mutant.file.partition("/")[0]
