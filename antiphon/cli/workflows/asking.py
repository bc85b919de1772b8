"""The request of a run to a person, as lines."""

from antiphon_shared.events import InputRequested
from antiphon_shared.workflows.params import Param

from antiphon.cli.event_lines import UNREACHABLE
from antiphon.cli.printer import one_line


def request_lines(request: InputRequested) -> list[str]:
    """Return a request as lines: the message, and each value with its type."""
    node = one_line(request.node)
    values = [
        f"    {one_line(name)}: {type_text(Param.model_validate(one))}"
        for name, one in request.expects.items()
    ]
    return [f"  {node}: waits for a person: {one_line(request.message)}", *values]


def type_text(param: Param) -> str:
    """Return a param's type in words: `str, required, one of "aisle", "window": the description`."""
    parts = [param.type if not param.format else f"{param.type} ({param.format})"]
    parts += ["required"] if param.is_required else []
    parts += [f"one of {', '.join(map(str, param.enum[:20]))}"] if param.enum else []
    about = f": {one_line(param.description)}" if param.description else ""
    return one_line(", ".join(parts)) + about


def how_to_answer(run_id: str, request: InputRequested, command: str = "antiphon") -> list[str]:
    """Return the command for a run that waits for values; `command` is empty if none can reach it."""
    if not command:
        return [UNREACHABLE.format("answered")]
    values = " ".join(f"{one_line(name)}=..." for name in request.expects)
    return [
        f"    to answer: {command} workflows runs answer {run_id} {values} --node {one_line(request.node)}"
    ]
