"""The cost of validating a workflow file of a thousand nodes, compared with only reading the events of its YAML."""

import statistics
import time
from collections.abc import Callable

import yaml
from antiphon_shared.workflows.form import read_file
from antiphon_shared.workflows.validate import problems_of

from antiphon.workflows.load import catalogue_of

_NODES = 1_000
_HEAD = """domain: benchmark
version: "1"
workflows:
  long:
    description: A chain of branches, with a fallback and a foreach in each part.
    params: { p: { type: str }, day: { type: str } }
    graph:
      e: { type: error, message: no }
"""
_PART = """\
      a%(n)d:
        type: branch
        depends_on: [%(before)s]
        on: [{ when: '%(when)s', goto: b%(n)d }, { default: c%(n)d }]
      b%(n)d: { call: check_availability, args: { flight: $p }, output: o%(n)d }
      c%(n)d: { call: check_availability, args: { flight: '$p-1' }, output: o%(n)d }
      d%(n)d:
        call: search_flights
        depends_on: [b%(n)d, c%(n)d]
        args: { origin: $p, destination: $o%(n)d.destination, day: $day }
        on_error: { retry: 2, delay: 500, backoff: exponential, fallback: e }
      f%(n)d:
        type: foreach
        depends_on: [d%(n)d]
        items: $d%(n)d
        as: flight
        step: { call: check_availability, args: { flight: $flight.flight } }
"""


def measure(runs: int) -> list[tuple[str, str, str, str]]:
    """Return the row of the table: seconds of CPU, and how many times the floor that is."""
    text = file_of(_NODES)
    catalogue = catalogue_of(["examples.travel"])

    def validated() -> None:
        file = read_file(text, "long.yaml")
        assert file.specification is not None
        assert list(problems_of(file.specification, catalogue)) == []

    def events() -> None:
        assert sum(1 for _ in yaml.parse(text, yaml.SafeLoader)) > _NODES

    pairs = [(_seconds(validated), _seconds(events)) for _ in range(runs)]
    took = statistics.median(ours for ours, _ in pairs)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    return [
        (
            f"a workflow of {_NODES:,} nodes validated",
            f"{took:.2f} s of CPU",
            f"{ratio:.2f} x PyYAML",
            "< 0.5 s",
        )
    ]


def file_of(nodes: int) -> str:
    """Return a file with so many nodes, five in each part."""
    parts = []
    for n in range(nodes // 5):
        before, when = (f"d{n - 1}", f"$o{n - 1}.seats_left > 3") if n else ("", "true")
        parts.append(_PART % {"n": n, "before": before, "when": when})
    return _HEAD + "".join(parts)


def _seconds(work: Callable[[], None]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
