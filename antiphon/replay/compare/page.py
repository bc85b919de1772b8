"""A comparison as one self-contained HTML page: no network, no script. Pure.

All text from models, tools and recordings is escaped; the content security policy forbids scripts and network.
"""

from html import escape
from itertools import chain, repeat

from antiphon.replay.compare.cells import Cell, Comparison, Run
from antiphon.replay.compare.questions import Question
from antiphon.replay.compare.table import HEADINGS, cells_of, rows_of_totals

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; }
tr.first td { border-top: 2px solid var(--line); }
tr.sum { background: var(--soft); }
.wide { overflow-x: auto; }
details { margin: 1rem 0; border: 1px solid var(--line); border-radius: .4rem; padding: .5rem 1rem; }
summary { cursor: pointer; font-weight: 600; overflow-wrap: anywhere; }
.answers { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; margin: 1rem 0; }
.answers section { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem 1rem; min-width: 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; max-height: 40rem; overflow-y: auto; }
h3 { margin: .3rem 0; } .faint { opacity: .7; } .bad { color: #c33; }
"""
_WORDS = ("question", "plan", "status")


def page(comparison: Comparison) -> str:
    """Return the whole page."""
    count = len(comparison.questions)
    times = f", each asked {comparison.times} times" if comparison.times > 1 else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plans compared</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Plans compared</h1>
<p>{count} question{"s" * (count != 1)}{times}; numbers are medians, the score of a question is a mean.
Latency runs from the question to its answer.</p>
<div class="wide"><table>
<thead>{_head()}</thead>
<tbody>{"".join(_rows(comparison, question) for question in comparison.questions)}</tbody>
<tfoot>{_sums(comparison)}</tfoot>
</table></div>
<h2>Answers</h2>
{"".join(_answers(comparison, question) for question in comparison.questions)}
</body>
</html>
"""


def _head() -> str:
    cells = (f"<th{_number(name)}>{escape(name)}</th>" for name in HEADINGS)
    return f"<tr>{''.join(cells)}</tr>"


def _number(name: str) -> str:
    return "" if name in _WORDS else ' class="n"'


def _rows(comparison: Comparison, question: Question) -> str:
    names = chain([question.id], repeat(""))
    return "".join(
        _row("first" if name else "", (name, cell.plan, cell.status, *cells_of(cell.numbers)))
        for name, cell in zip(names, comparison.of_question(question), strict=False)
    )


def _sums(comparison: Comparison) -> str:
    return "".join(_row("sum first" if row[0] == "sum" else "sum", row) for row in rows_of_totals(comparison))


def _row(kind: str, values: tuple[str, ...]) -> str:
    cells = "".join(
        f"<td{_number(name)}>{escape(value)}</td>" for name, value in zip(HEADINGS, values, strict=True)
    )
    return f'<tr class="{kind}">{cells}</tr>\n'


def _answers(comparison: Comparison, question: Question) -> str:
    """Return the answers of all plans to one question, side by side."""
    cells = comparison.of_question(question)
    expected = question.expected.model_dump_json(exclude_defaults=True) if question.expected else ""
    expectation = f'<p class="faint">Expected: {escape(expected)}</p>' if expected else ""
    return (
        f"<details><summary>{escape(question.id)}: {escape(question.query)}</summary>{expectation}"
        f'<div class="answers">{"".join(map(_answer, cells))}</div></details>\n'
    )


def _answer(cell: Cell) -> str:
    run = cell.first
    ending = run.response.termination_reason if run.response else ""
    faint = ", ".join(filter(None, [cell.status, ending]))
    return (
        f'<section><h3>{escape(cell.plan)}</h3><p class="faint">{escape(faint)}</p>'
        f"{_run_html(run)}{_judgements(cell)}</section>"
    )


def _run_html(run: Run) -> str:
    if run.response is None:
        return f'<p class="bad">{escape(run.error)}</p>'
    return f"<pre>{escape(run.response.answer)}</pre>"


def _judgements(cell: Cell) -> str:
    """Return the judgements of all runs, as they may differ."""
    lines = []
    for number, run in enumerate(cell.runs, 1):
        for one in run.judgements:
            score = "no score" if one.score is None else f"{one.score:.2f}"
            text = f"{one.name}: {score}" + (f" ({one.note})" if one.note else "")
            which = f"run {number}, " if len(cell.runs) > 1 else ""
            lines.append(f"<li{' class=bad' * (one.score is None)}>{escape(which + text)}</li>")
    return f"<ul>{''.join(lines)}</ul>" if lines else ""
