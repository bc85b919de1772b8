"""A run's events as lines for people."""

from antiphon_shared.events import (
    ChildBegun,
    ChildEnded,
    ChildWaiting,
    EventData,
    InputGiven,
    InputRefused,
    InputRequested,
    OutcomeSettled,
    ResumeRequested,
    RunOpened,
)
from antiphon_shared.events.session import Response

from antiphon.cli.printer import one_line

_MESSAGE_LENGTH = 160


def progress_of_run(data: EventData) -> list[str]:
    """Return the lines about an event of a run of a workflow; often none."""
    match data:
        case InputRequested(node=node, message=message):
            return [f"  {one_line(node)}: waits for a person: {one_line(message, _MESSAGE_LENGTH)}"]
        case InputGiven(by=by):
            return [f"  values were given{f' by {one_line(by, 40)}' if by else ''}"]
        case InputRefused(because=because):
            return [f"  the values were refused: {one_line(because, _MESSAGE_LENGTH)}"]
        case OutcomeSettled(node=node, happened=happened, by=by):
            who = f" by {one_line(by, 40)}" if by else ""
            return [f"  {one_line(node)}: settled{who}: it {'happened' if happened else 'did not happen'}"]
        case ResumeRequested():
            return ["resuming"]
        case RunOpened(problem=problem) if problem:
            return [f"  cannot start: {one_line(problem, _MESSAGE_LENGTH)}"]
        case ChildBegun(child=child, node=node):
            return [f"  {f'{one_line(node)}: a model answers in' if node else 'starts run'} {child}"]
        case ChildWaiting(message=message, because=because):
            again = f"{one_line(because, _MESSAGE_LENGTH)}; " if because else ""
            return [f"  the run waits for a person: {again}{one_line(message, _MESSAGE_LENGTH)}"]
        case ChildEnded(response=response):
            return [f"  {response.session_id} has ended: {_how_ended(response)}"]
        case _:
            return []


def failed_node(response: Response) -> str:
    """Return the first node that failed in a run, with the reason; empty where none did."""
    nodes = response.run.nodes if response.run is not None else ()
    failed = (node for node in nodes if node.status == "failed" and node.message)
    return next((one_line(f"{node.path}: {node.message}", _MESSAGE_LENGTH) for node in failed), "")


def _how_ended(response: Response) -> str:
    if response.run is None:
        return f"{response.status} ({response.termination_reason})"
    failed = failed_node(response)
    return response.run.status + (f": {failed}" if failed else "")
