"""The clients' questions, and the model's replies. Pure.

The model is a script: in its first two rounds it requests tools by the kind of the question, and then it answers.
Independent of the question it sometimes fails instead: once in a number of requests, with each kind of failure.
"""

import random
from dataclasses import dataclass
from typing import Any, Literal, get_args

from tests.messages_server import Scripted, Use

Kind = Literal["facts", "writes", "stumbles", "floods", "sits", "hangs", "approval"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Decides = Literal["approve", "deny", "never"]
_WEIGHTS = (8, 8, 3, 1, 1, 1, 2)

TENANTS = ("default", "acme", "umbrella")
DEADLINE_S = 60.0
SHORT_DEADLINE_S = (1.0, 6.0)
MODEL_WAIT_S = 0.05


@dataclass(frozen=True, slots=True)
class Question:
    """A client's question, and the actions of the client during the session."""

    session_id: str
    kind: Kind
    tenant: str
    options: dict[str, Any]
    deadline_s: float
    cancels_after_s: float | None = None
    submits_again_after_s: float | None = None
    decides: Decides = "never"

    @property
    def text(self) -> str:
        return f"What of {self.session_id}? {_mark(self.kind)}"


def a_question(number: int, choose: random.Random) -> Question:
    """Return the next question of a seeded series."""
    (kind,) = choose.choices(KINDS, _WEIGHTS)
    options: dict[str, Any] = {}
    decides: Decides = choose.choice(("approve", "approve", "deny", "never"))
    is_endless = kind in ("sits", "hangs") or (kind == "approval" and decides == "never")
    is_short = is_endless or choose.random() < 0.1
    deadline_s = round(choose.uniform(*SHORT_DEADLINE_S), 2) if is_short else DEADLINE_S
    options["deadline_s"] = deadline_s
    if choose.random() < 0.2:
        options["max_rounds"] = choose.randint(1, 3)
    if choose.random() < 0.1:
        options["max_tool_calls"] = choose.randint(0, 3)
    return Question(
        session_id=f"q{number}",
        kind=kind,
        tenant=choose.choice(TENANTS),
        options=options,
        deadline_s=deadline_s,
        cancels_after_s=choose.uniform(0, 2) if choose.random() < 0.08 else None,
        submits_again_after_s=choose.uniform(0, 1) if choose.random() < 0.1 else None,
        decides=decides,
    )


JUNK: tuple[dict[str, str], ...] = (
    {"nonsense": "what is this?"},
    {"query": "   "},
    {"query": "What?", "options": "{"},
    {"query": "What?", "options": '{"max_rounds": 100000}'},
    {"query": "What?", "session_id": "no id can have spaces"},
    {"event": "\x00\x01\x02"},
    {"event": '{"specversion": "1.0"}'},
)
"""Unreadable submissions; each is set aside with the reason."""


def script() -> list[Scripted]:
    """Return the script of the model."""
    facts = (_use("look_up"), _use("keyed"))
    writes = (_use("look_up"), _use("keyed"), _use("asked"), _use("plain"))
    stumbles = (_use("falls"), _use("overruns"), _use("hangs"), _use("look_up"))
    return [
        *_failures(),
        _reply_to("This is the last round", text="This is what there is [F1]."),
        _reply_to(_mark("hangs"), text="Late.", wait_s=30.0),
        _reply_to("Round 3 of", text="It is as it is [F1]."),
        _reply_to(_mark("facts"), uses=facts),
        _reply_to(_mark("writes"), uses=writes),
        _reply_to(_mark("stumbles"), uses=stumbles),
        _reply_to(_mark("floods"), uses=(_use("floods"), _use("look_up"))),
        _reply_to(_mark("sits"), uses=(_use("sits"), _use("plain"))),
        _reply_to(_mark("approval"), uses=(_use("approved"), _use("look_up"))),
        _reply_to("", text="There is nothing more to say."),
    ]


def _failures() -> list[Scripted]:
    """Return the failure of every n-th request. The periods share no divisor, so that failures rarely coincide."""
    return [
        Scripted(one_in=31, repeat=True, status=529, error="overloaded_error"),
        Scripted(one_in=37, repeat=True, status=500, error="api_error"),
        Scripted(one_in=41, repeat=True, status=429, error="rate_limit_error", headers={"retry-after": "1"}),
        Scripted(one_in=43, repeat=True, text="It breaks off here, and says no more.", break_after=4),
        Scripted(one_in=47, repeat=True, text="This one ends early.", break_after=5, break_by="end"),
        Scripted(one_in=53, repeat=True, text="This one fails late.", break_after=5, break_by="error"),
        Scripted(one_in=59, repeat=True, text="Slow, and then broken.", wait_s=4.0, break_after=3),
        Scripted(one_in=61, repeat=True, body="<html>not a message</html>"),
        Scripted(one_in=67, repeat=True, status=400, error="invalid_request_error"),
    ]


def _reply_to(
    when: str, text: str = "", uses: tuple[Use, ...] = (), wait_s: float = MODEL_WAIT_S
) -> Scripted:
    return Scripted(when=when, text=text, uses=uses, wait_s=wait_s, repeat=True)


def _use(name: str) -> Use:
    return Use(name=name, input={"what": "height"})


def _mark(kind: Kind) -> str:
    return f"Kind: {kind}."
