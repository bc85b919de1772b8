"""The share of the evidence that a briefing keeps, at a fraction of the tokens: `python -m benchmarks.memory`."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from antiphon_shared.process.collector import freeze_program_objects
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.text.tokens import estimate_tokens
from rich.console import Console
from rich.markup import escape

from benchmarks.memory import growth, ours, table
from benchmarks.memory.charged import by_tokenizer
from benchmarks.memory.embedding import Embedding
from benchmarks.memory.form import Question, UnreadableData, read, write
from benchmarks.memory.generate import SEED, generate
from benchmarks.memory.measure import OURS, measure_all, missing, raw_tokens
from benchmarks.memory.methods import METHODS
from benchmarks.memory.paired import differences

_EPILOG = """examples:
  python -m benchmarks.memory                                our own sets of three seeds, all methods
  python -m benchmarks.memory --seed 4                       one set of our own
  python -m benchmarks.memory --kinds four-hop --budgets 10  one kind of question, one budget
  python -m benchmarks.memory --data set.jsonl --json        another set; its form: docs/memory-benchmark.md
  python -m benchmarks.memory --show four-hop-3 --budgets 10 one briefing, and the gold that is missing in it
  python -m benchmarks.memory --generate set.jsonl           write our own set, to look at it

exit codes: 0 done, 1 a briefing was over its budget, 2 wrong usage, 3 the data cannot be read"""
_WIDTH = 140
SEEDS = 3
"""With one set of so few questions of a kind, the seed moves a figure by .03 to .05."""


def main() -> int:
    arguments = _parser().parse_args()
    progress = Console(stderr=True)
    try:
        sets = _chosen(arguments)
        questions = [question for one in sets for question in one]
        if arguments.generate:
            arguments.generate.write_text("".join(write(questions)), encoding="utf-8")
            return 0
    except UnreadableData as error:
        progress.print(f"[red]unreadable:[/] {escape(str(error))}", soft_wrap=True, highlight=False)
        return 3
    except OSError as error:
        progress.print(
            f"[red]cannot write:[/] {escape(str(error))}. Name a file that can be written.", soft_wrap=True
        )
        return 3
    if arguments.show:
        return _show(questions[0], sorted(arguments.budgets)[len(arguments.budgets) // 2])
    lost = sum(len(question.unreachable) for question in questions)
    if lost:
        progress.print(
            f"{lost} gold sentences stand in no result; no method can find them, and they count as missing."
        )
    freeze_program_objects()  # As every component does.
    with progress.status("measuring") as status:
        count = by_tokenizer(arguments.tokenizer) if arguments.tokenizer else estimate_tokens
        outcomes = measure_all(
            questions, arguments.budgets, arguments.methods, status.update, count, arguments.embeddings
        )
        status.update("long sessions")
        seed = SEED if arguments.seed is None else arguments.seed
        grown = growth.measure(sets[0], seed) if OURS in arguments.methods else {}
        if grown:
            grown["times"] = table.by_passages(outcomes, growth.timed(sets[0], seed))
    if arguments.embeddings is not None:
        progress.print(arguments.embeddings.cost)
    if arguments.json:
        pairs = [asdict(one) for one in differences(outcomes)]
        print(json.dumps({"outcomes": table.as_json(outcomes), "paired": pairs, "growth": grown}, indent=2))
    else:
        console = Console()
        table.show(console if console.is_terminal else Console(width=_WIDTH), outcomes, grown)
    return 1 if any(one.is_over and one.method == OURS for one in outcomes) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.memory",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    methods = [*METHODS, OURS]
    add = parser.add_argument
    add("--data", type=Path, nargs="+", metavar="FILE", help="data sets to measure, in place of our own")
    add(
        "--budgets",
        type=_budgets,
        default=[5.0, 10.0, 20.0],
        metavar="5,10,20",
        help="percent of the raw tokens",
    )
    add("--kinds", type=_names, default=[], metavar="A,B", help="only these kinds of questions")
    add(
        "--methods",
        type=_methods,
        default=methods,
        metavar="A,B",
        help=f"only these of: {', '.join(methods)}",
    )
    add("--limit", type=int, default=0, metavar="N", help="the first N questions of each kind")
    add(
        "--seeds",
        type=_count,
        default=SEEDS,
        metavar="N",
        help=f"sets of our own, together; {SEEDS} when left out",
    )
    add("--seed", type=int, metavar="N", help=f"one set of our own, of this seed; they count from {SEED}")
    add(
        "--tokenizer",
        type=Path,
        metavar="FILE",
        help="a tokenizer.json to count tokens with; needs antiphon[bench]; the offline estimate when left out",
    )
    add("--generate", type=Path, metavar="FILE", help="write the questions as JSON Lines, and stop")
    add("--show", metavar="ID", help="print a question's last briefing and what gold is in it, and stop")
    add(
        "--embeddings",
        type=_embedding,
        metavar="minilm",
        help="ours with embeddings: minilm, or package.module:function, as in the setting",
    )
    add("--json", action="store_true", help="one JSON object on stdout")
    return parser


def _chosen(arguments: argparse.Namespace) -> list[list[Question]]:
    """Return the questions to measure, set by set. Ends the program with 2 when none is left."""
    if arguments.data:
        sets = [[question for path in arguments.data for question in read(path)]]
    elif arguments.seed is not None:
        sets = [generate(arguments.seed)]
    else:
        count = 1 if arguments.show or arguments.generate else arguments.seeds
        sets = [generate(seed) for seed in range(SEED, SEED + count)]
    if arguments.show:
        chosen = [[question for question in sets[0] if question.id == arguments.show]]
        fault = f"no question has the id {arguments.show!r}; the first ids are {', '.join(q.id for q in sets[0][:5])}"
    else:
        kinds = list(dict.fromkeys(question.kind for question in sets[0]))
        named = [kind for kind in kinds if kind in arguments.kinds or not arguments.kinds]
        chosen = [_of_kinds(one, named, arguments.limit) for one in sets]
        fault = f"no question is of these kinds; there are {', '.join(kinds)}"
    if not chosen[0]:
        _parser().error(fault)
    return chosen


def _of_kinds(questions: Sequence[Question], kinds: Sequence[str], limit: int) -> list[Question]:
    by_kind = [[question for question in questions if question.kind == kind] for kind in kinds]
    return [question for group in by_kind for question in group[: limit or None]]


def _show(question: Question, share: float) -> int:
    """Print the last briefing as text, then the gold: found or not, and from where."""
    tokens = int(raw_tokens(question) * share / 100)
    text = [one.text for one in ours.briefings(question, tokens)][-1]
    lost = missing(question.gold, ours.statements(text))
    console = Console(highlight=False, soft_wrap=True)
    console.print(escape(text))
    console.print(f"\n[bold]{escape(question.id)} at {share:g} %: {tokens} tokens[/]")
    for gold in question.gold:
        titles = dict.fromkeys(one.title for one in question.passages if not missing([gold], one.text))
        mark = "[red]missing[/]" if gold in lost else "[green]found  [/]"
        console.print(f"{mark} {escape(gold)}  [dim]({escape('; '.join(titles) or 'in no result')})[/]")
    return 0


def _budgets(text: str) -> list[float]:
    try:
        shares = [float(part) for part in _names(text)]
    except ValueError:
        shares = []
    if not shares or not all(0 < share <= 100 for share in shares):
        raise argparse.ArgumentTypeError("give percents above 0 and up to 100, as in 5,10,20")
    return shares


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError("give a number from 1 to 100")
    return int(text)


def _embedding(setting: str) -> Embedding:
    try:
        return Embedding(setting)
    except ConfigurationError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _methods(text: str) -> list[str]:
    known = [*METHODS, OURS]
    if strange := [name for name in _names(text) if name not in known]:
        raise argparse.ArgumentTypeError(f"no method is called {strange[0]!r}; there are {', '.join(known)}")
    return _names(text) or known


if __name__ == "__main__":
    sys.exit(main())
