"""Models that cheat where an answer must fit a schema, and schemas that are rejected: five real processes.

test_wires_and_styles.py asks the models, in each wire format and style.
"""

import json
from collections.abc import Iterator

import pytest
from antiphon_shared.events.session import Response

from tests.flows.pipeline import Pipeline, pipeline
from tests.messages_server import Scripted, Use
from tests.recordings.scenarios.outputs import FITS, MORE, PLAN, SCHEMA

TRICKS = {
    "fits at once": FITS,
    "prose at first": "It is Skagen, with 14 berths.",
    "cut off at first": FITS[:-8],
    "two at first": f'{FITS}\n{{"harbour": "Skagen", "berths": 15}}',
    "another type at first": '{"harbour": "Skagen", "berths": "14"}',
    "an empty result at first": "{}",
    "success without a result at first": '{"success": true, "result": null}',
    "in another language around it": f"Voici la réponse :\n```json\n{FITS}\n```\nBonne journée !",
}
"""The model's first reply, by a word of the question; after each refusal it gives a fitting one."""
NEVER = "never anything but prose"
LOOKS_UP = "looks something up before"


def script() -> list[Scripted]:
    return [
        Scripted(when=NEVER, text="It is Skagen.", repeat=True),
        Scripted(when="Your last answer does not count", text=FITS, repeat=True),
        *(Scripted(when=trick, text=reply, repeat=True) for trick, reply in TRICKS.items()),
        Scripted(when="Round 2 of", text=FITS, repeat=True),
        Scripted(when=LOOKS_UP, uses=(Use(name="look_up", input={"what": "height"}),)),
    ]


def ask(five: Pipeline, query: str, session: str) -> None:
    options = {"output_schema": SCHEMA, "max_rounds": 3}
    five.submit(f"Which harbour? ({query})", session_id=session, options=json.dumps(options))


def reasons(response: Response) -> tuple[str, str]:
    return response.status, response.termination_reason


BOTH = (
    Use(name="validate_minimal", input={"plan": PLAN}),
    Use(name="validate_full", input={"plan": PLAN}),
)
CHEATS: dict[str, tuple[Scripted, ...]] = {
    "does as it should": (Scripted(uses=BOTH), Scripted(text=FITS)),
    "does not validate at first": (Scripted(text=FITS), Scripted(uses=BOTH), Scripted(text=FITS)),
    "validates by one tool at first": (
        Scripted(uses=BOTH[:1]),
        Scripted(text=FITS),
        Scripted(uses=BOTH[1:]),
        Scripted(text=FITS),
    ),
    "validates something else at first": (
        Scripted(
            uses=tuple(Use(name=use.name, input={"plan": MORE | {"berths": 14, "more": 1}}) for use in BOTH)
        ),
        Scripted(text=FITS),
        Scripted(uses=BOTH),
        Scripted(text=FITS),
    ),
    "changes what had passed at first": (
        Scripted(uses=BOTH),
        Scripted(text=json.dumps(MORE)),
        Scripted(text=FITS),
    ),
    "returns what had failed at first": (
        Scripted(uses=(Use(name="validate_full", input={"plan": MORE}), BOTH[0])),
        Scripted(text=json.dumps(MORE)),
        Scripted(uses=BOTH),
        Scripted(text=FITS),
    ),
    "validates for ever": (Scripted(uses=BOTH, repeat=True),),
    "never validates": (Scripted(text=FITS, repeat=True),),
}


def of_cheat(cheat: str, replies: tuple[Scripted, ...]) -> list[Scripted]:
    return [reply.model_copy(update={"when": cheat}) for reply in replies]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"enum": []}, "no value satisfies it"),
        ({"$ref": "https://example.org/x"}, "refers to a place outside the document"),
        ({"description": "x" * 100_000}, "bytes, more than the limit of 100,000"),
        ({"pattern": "(?=a)b"}, "regex"),
        (7, "should be an object"),
    ],
)
def test_a_schema_that_cannot_be_used_is_rejected_with_the_reason(
    nobodys_queue: Pipeline, schema: object, why: str
) -> None:
    five = nobodys_queue
    before = five.client.xlen(five.keys.rejected())
    five.submit("Which harbour?", options=json.dumps({"output_schema": schema}))
    five.until(lambda: five.client.xlen(five.keys.rejected()) > before, "the rejection")
    (*_, (_, fields)) = five.entries(five.keys.rejected())
    assert why in fields[b"reason"].decode()
    assert "output_schema" in fields[b"reason"].decode()


@pytest.fixture(scope="module")
def nobodys_queue() -> Iterator[Pipeline]:
    with pipeline(is_started=False) as five:
        five.start("coordinator")
        yield five
