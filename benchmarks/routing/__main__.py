"""Recall of the tools that a question needs among the eight offered, of sixty: `python -m benchmarks.routing`.

Settings are chosen by the first set. The second was written by an author who had seen neither the first set nor the
ranking; it was measured once the settings were final, and serves only for the report.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import NamedTuple

from antiphon_shared.text.subquestions import sub_questions
from antiphon_shared.text.word_index import WordIndex
from antiphon_shared.text.words import words
from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.relevance import most_relevant
from rich.console import Console
from rich.table import Table

from benchmarks.routing import questions, questions_b, tools, tools_b
from benchmarks.routing.questions import Question

OFFERED = 8
_RESAMPLES = 2_000

Router = Callable[[Sequence[ToolDefinition], str, int], Sequence[str]]
"""From the tools, a question and the number to offer to their names."""


def routed(tools: Sequence[ToolDefinition], question: str, n: int) -> Sequence[str]:
    """Return what the pipeline offers."""
    texts = (question, *sub_questions(question))
    return [tool.name for tool in most_relevant(tools, texts, n)[:n]]


def plain_bm25(tools: Sequence[ToolDefinition], question: str, n: int) -> Sequence[str]:
    """Return the tools by BM25 over names, descriptions and parameters; what shares no word follows by name."""
    index = WordIndex()
    for tool in tools:
        properties = tool.input_schema.get("properties", {})
        texts = [text for name, one in properties.items() for text in (name, one.get("description", ""))]
        index.add(words(" ".join((tool.name, tool.description, *texts))))
    scores = [0.0] * len(tools)
    for word in sorted(set(words(question))):
        for place, score in index.scores_of(word):
            scores[place] += score
    best = sorted(zip(scores, tools, strict=True), key=lambda pair: (-pair[0], pair[1].name))
    return [tool.name for _, tool in best[:n]]


ROUTERS: dict[str, Router] = {"routing": routed, "plain BM25": plain_bm25}


class Set(NamedTuple):
    """Tools, and questions that need some of them."""

    tools: tuple[ToolDefinition, ...]
    questions: tuple[Question, ...]


SETS = {
    "development": Set(tools.TOOLS, questions.QUESTIONS),
    "report": Set(tools_b.TOOLS, questions_b.QUESTIONS),
}


def recalls(router: Router, asked: Set) -> list[float]:
    """Return the share of the tools needed that is offered, for each question."""
    found = [(set(one.needs), set(router(asked.tools, one.text, OFFERED))) for one in asked.questions]
    return [len(needs & offered) / len(needs) for needs, offered in found]


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    draw = random.Random(seed)
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[_RESAMPLES // 40], means[-_RESAMPLES // 40]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.routing", description=__doc__)
    parser.add_argument("--missed", choices=tuple(SETS), help="show the questions that lack a tool")
    arguments = parser.parse_args()
    console = Console(width=140)
    table = Table("set", *(f"{name}: recall@{OFFERED} (95 %)" for name in ROUTERS))
    for name, asked in SETS.items():
        cells = []
        for router in ROUTERS.values():
            values = recalls(router, asked)
            low, high = interval(values)
            cells.append(f"{fmean(values):.3f} ({low:.3f} to {high:.3f})")
        table.add_row(f"{name} ({len(asked.tools)} tools, {len(asked.questions)} questions)", *cells)
    console.print(table)
    console.print(_timed())
    if arguments.missed:
        asked = SETS[arguments.missed]
        for question in asked.questions:
            offered = routed(asked.tools, question.text, OFFERED)
            if lacking := set(question.needs).difference(offered):
                console.print(f"{question.text} lacks {', '.join(sorted(lacking))}: {', '.join(offered)}")


def _timed() -> str:
    """Return what ranking costs in CPU time, with 60 tools and with 540."""
    lines, (given, asked) = [], SETS["development"]
    for copies in (1, 9):
        many = [tool.model_copy(update={"name": f"{tool.name}_{n}"}) for n in range(copies) for tool in given]
        began = time.process_time()
        routed(many, asked[0].text, OFFERED)
        indexed = time.process_time()
        for question in asked:
            routed(many, question.text, OFFERED)
        each = (time.process_time() - indexed) / len(asked)
        lines.append(
            f"{len(many)} tools: {1000 * (indexed - began):.1f} ms the first time, then {1000 * each:.2f} ms"
        )
    return "; ".join(lines)


if __name__ == "__main__":
    main()
