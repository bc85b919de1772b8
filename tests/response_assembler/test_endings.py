"""The whole answer for each reason to end, each failure of a tool and each uncertainty: golden/endings.md.

After an intended change, run `python -m tests.response_assembler.test_endings`, and review the output.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import get_args

from antiphon_shared.events.session import TerminationReason, Uncertainty
from antiphon_shared.memory.findings import Findings
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.tools.calls import ErrorType

from response_assembler.compose import compose
from response_assembler.uncertainty import KINDS
from tests.envelopes import START
from tests.response_assembler.builders import a_document, a_memory, a_reply, a_request, a_use

GOLDEN = Path(__file__).parent / "golden" / "endings.md"
_FOUND = a_memory(a_document("", "the fact", tool="t"))
_REPLY = "It is so in 2021 [F1], and somebody likes it [F2]."


def _answer(
    memory: Memory, reason: TerminationReason, reply: str | None = None, *uncertainties: Uncertainty
) -> str:
    request = a_request("partial", reason, uncertainty=uncertainties)
    written = None if reply is None else a_reply(reply)
    response = compose("s1", request, START + timedelta(seconds=2.5), Findings(memory, written))
    lines = [f"- {one.kind} ({one.severity}, {one.about}): {one.message}" for one in response.uncertainty]
    return "\n".join((response.answer, "", *lines))


def _failed(error: ErrorType) -> Memory:
    message = "It did not work. Try something else."
    use = a_use("search", error, message=message, what_happened="It did not work.")
    return a_memory(a_document("", "the fact", tool="t"), use)


def _endings() -> Iterator[tuple[str, str]]:
    for reason in get_args(TerminationReason):
        yield f"{reason}, with a reply", _answer(_FOUND, reason, _REPLY)
        yield f"{reason}, without one", _answer(_FOUND, reason)
        yield f"{reason}, with nothing found", _answer(a_memory(), reason)
    for error in get_args(ErrorType):
        yield f"a call ends as {error}", _answer(_failed(error), "natural_completion")
        yield (
            f"a call ends as {error}, and a reply",
            _answer(_failed(error), "natural_completion", "So [F1]."),
        )
    for kind, known in KINDS.items():
        uncertainty = Uncertainty(kind=kind, message="It is so.", about="search", severity=known.severity)
        yield f"the coordinator doubts: {kind}", _answer(a_memory(), "model_unavailable", None, uncertainty)


def whole() -> str:
    """Return every ending, with the answer and its uncertainties."""
    made = "Made by `python -m tests.response_assembler.test_endings`."
    return "\n\n".join((made, *(f"# {name}\n\n{text}" for name, text in _endings()))) + "\n"


def test_each_ending_has_its_recorded_text() -> None:
    assert whole() == GOLDEN.read_text()


if __name__ == "__main__":
    GOLDEN.write_text(whole())
