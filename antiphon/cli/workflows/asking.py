"""What a run asks a person, as lines. Pure."""

from antiphon_shared.events import InputRequested
from antiphon_shared.workflows.params import Param

from antiphon.cli.output import one_line


def asked(request: InputRequested) -> list[str]:
    """Return what a person is asked: the message, and each value with its type."""
    node = one_line(request.node)
    values = [
        f"    {one_line(name)}: {type_text(Param.model_validate(one))}"
        for name, one in request.expects.items()
    ]
    return [f"  {node}: waits for a person: {one_line(request.message)}", *values]


def type_text(param: Param) -> str:
    """Return `str, required, one of "aisle", "window": what it is for`."""
    parts = [param.type if not param.format else f"{param.type} ({param.format})"]
    parts += ["required"] if param.is_required else []
    parts += [f"one of {', '.join(map(str, param.enum[:20]))}"] if param.enum else []
    about = f": {one_line(param.description)}" if param.description else ""
    return one_line(", ".join(parts)) + about


def how_to_answer(run_id: str, request: InputRequested, command: str = "antiphon") -> list[str]:
    """Return what to type, in another terminal, for a run that waits for values."""
    values = " ".join(f"{one_line(name)}=..." for name in request.expects)
    return [
        f"    to answer: {command} workflows runs answer {run_id} {values} --node {one_line(request.node)}"
    ]
