"""The dialogue with the person at the terminal, who gives a run its values, and approves its calls."""

from functools import partial
from typing import Any

from antiphon_shared.events import (
    AnyEvent,
    ApprovalRequested,
    InputRefused,
    InputRequested,
    NodesSettled,
    ResponseReady,
)
from antiphon_shared.workflows.params import Param

from antiphon import workflows
from antiphon.cli.dialogue import Dialogue
from antiphon.cli.output import stderr
from antiphon.cli.printer import one_line
from antiphon.cli.unconfirmed import show_confirmation
from antiphon.cli.workflows.asking import request_lines, type_text
from antiphon.cli.workflows.params import UnfitValue, typed_value
from antiphon.client import Antiphon

_BOOLS = {"y": "true", "yes": "true", "n": "false", "no": "false"}


class RunDialogue(Dialogue):
    """A person, and the run that waits for them."""

    def __init__(self, antiphon: Antiphon) -> None:
        super().__init__(antiphon)
        self._requests: dict[int, InputRequested] = {}
        """The open requests, by number."""

    def hear(self, event: AnyEvent) -> None:
        """Start to ask the run's questions; stop when they are answered elsewhere, or the run has ended."""
        match event.data:
            case InputRequested(round=number) as request:
                self._requests[number] = request
                self._begin([partial(self._give, event.subject, request)])
            case InputRefused(round=number, because=why) if number in self._requests:
                stderr().print(f"  refused: {one_line(why)}", style="yellow")
                self._begin([partial(self._give, event.subject, self._requests[number])])
            case NodesSettled(nodes=nodes):
                self._forget(event.subject, {node.path for node in nodes})
            case ApprovalRequested() | ResponseReady():
                super().hear(event)

    def _forget(self, run_id: str, settled: set[str]) -> None:
        """Drop requests of settled nodes, and ask the remaining ones."""
        over = [number for number, one in self._requests.items() if one.node in settled]
        for number in over:
            del self._requests[number]
        if over and self.is_asking:
            self.stop()
            self._begin(partial(self._give, run_id, one) for one in self._requests.values())

    async def _give(self, run_id: str, request: InputRequested) -> bool:
        """Ask for the values of a request; return False at the end of standard input."""
        if request.round not in self._requests:
            return True
        for line in request_lines(request):
            stderr().print(line)
        values: dict[str, Any] = {}
        for name, one in request.expects.items():
            param = Param.model_validate(one)
            while True:
                typed = await self._typed(f"{one_line(name)} ({type_text(param)})> ")
                if typed is None:
                    return False
                try:
                    value = _value(param, typed)
                except UnfitValue as error:
                    stderr().print(f"  {error}", style="yellow")
                    continue
                if value is not None:
                    values[name] = value
                break
        given = await workflows.give(self._antiphon, run_id, values, node=request.node)
        show_confirmation(given.is_confirmed)
        return True


def _value(param: Param, typed: str) -> Any:
    """Return the typed value by its type; None if an optional value is left out. Raises UnfitValue."""
    text = typed.strip("\r\n")
    if not text.strip():
        if param.is_required:
            raise UnfitValue("it is required")
        return None
    if param.type == "bool":
        text = _BOOLS.get(text.strip().lower(), text)
    value = typed_value(param, text)
    if problem := param.problem(value):
        raise UnfitValue(problem)
    return value
