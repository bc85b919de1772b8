"""The view of one run for a person."""

from antiphon_shared.events import InputRequested
from antiphon_shared.workflows.params import short_json

from antiphon.cli import event_lines
from antiphon.cli.output import counted, print_table, stderr, stdout
from antiphon.cli.printer import one_line
from antiphon.cli.workflows.asking import how_to_answer, request_lines
from antiphon.workflows.run_view import RunView, RunWait

_NODES_MAX = 200
_CUT = 120


def show_view(view: RunView) -> None:
    """Print a run to stdout, and the next commands to stderr."""
    params = ", ".join(f"{name}={short_json(value)}" for name, value in view.params.items())
    stdout().print(f"{one_line(view.workflow)}({one_line(params)})")
    stdout().print(
        f"{view.status}, opened {view.opened:%Y-%m-%d %H:%M:%S} UTC, worked {view.worked_s:.1f} s\n"
    )
    rows = [
        (node.path, node.status, node.attempt if node.attempt > 1 else "", one_line(node.message, _CUT))
        for node in view.nodes[:_NODES_MAX]
    ]
    print_table(("node", "status", "attempt", ""), rows, "No nodes have started.")
    if len(view.nodes) > _NODES_MAX:
        stdout().print(f"... and {counted(len(view.nodes) - _NODES_MAX, 'node')} more; --json has all.")
    for heading, paths in (
        ("Remaining writes", view.standing),
        ("Writes that may have taken effect", view.unknown),
        ("Undone", view.undone),
    ):
        if paths:
            stdout().print(f"\n{heading}: {one_line(', '.join(paths))}")
    if view.output is not None:
        stdout().print(f"\nOutput: {one_line(short_json(view.output))}")
    _show_waits(view)
    if view.is_resumable:
        stderr().print(f"\n    to resume: antiphon workflows runs resume {view.run_id}", style="yellow")
    for path in view.unknown if view.is_resumable else ():
        command = f"settle {view.run_id} {one_line(path)} --happened|--did-not-happen"
        stderr().print(f"    first:     antiphon workflows runs {command}", style="yellow")


def _show_waits(view: RunView) -> None:
    approvals = [wait for wait in view.waits if wait.kind == "approval"]
    for wait in view.waits:
        if wait.kind == "person":
            stderr().print("", style="yellow")
            request = _request(wait)
            for line in (*request_lines(request), *how_to_answer(view.run_id, request)):
                stderr().print(line, style="yellow")
    if approvals:
        nodes = ", ".join(f"{one_line(wait.node)} [{one_line(wait.call)}]" for wait in approvals)
        stderr().print(f"\n  waits for approval of {nodes}", style="yellow")
        for line in event_lines.how_to_decide(view.run_id):
            stderr().print(line, style="yellow")


def _request(wait: RunWait) -> InputRequested:
    assert wait.until is not None, "a person is waited for until some time"
    return InputRequested(
        round=wait.number, node=wait.node, message=wait.message, expects=wait.expects, until=wait.until
    )
