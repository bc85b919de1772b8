"""A job is a session's id that knows its client."""

import copy
import inspect
import json
import pickle
from typing import Any

import pytest

from antiphon import Antiphon, Event, Job, tool
from tests.antiphon.conftest import QUESTION

OPERATIONS = ("result", "stream", "cancel", "approve", "deny", "answer", "questions_waiting")


@tool(effect="read")
def find_recipe(query: str) -> list[dict[str, str]]:
    """Find recipes by what is in them."""
    return [{"title": "Lentil soup", "text": "Lentils, carrots and cumin, cooked for 40 minutes."}]


async def test_a_job_streams_and_answers_its_own_session() -> None:
    async with Antiphon.embedded([find_recipe], model="offline") as client:
        job = await client.submit(QUESTION, session_id="mine")
        types = [event.type async for event in job.stream() if isinstance(event, Event)]
        response = await job.result()
        assert not await job.cancel(), "it has ended"
    assert types[-1] == "antiphon.response.ready.v1"
    assert response.session_id == job == "mine"


@pytest.mark.parametrize("name", OPERATIONS)
async def test_every_operation_is_that_of_the_client_for_this_session(name: str) -> None:
    """The same parameters, with the same defaults, in the same order."""
    of_job, of_client = (
        [(one.name, one.default, one.kind) for one in inspect.signature(method).parameters.values()]
        for method in (getattr(Job, name), getattr(Antiphon, name))
    )
    assert of_job[1:] == of_client[2:]

    class Client:
        def __getattr__(self, called: str) -> Any:
            async def call(*given: Any, **named: Any) -> Any:
                return called, given, named

            return call

    client: Any = Client()
    given = ("text",) if name == "answer" else ()
    called, passed, _ = await getattr(Job("s1", client), name)(*given)
    assert (called, passed[0]) == (name, "s1")


def test_outside_its_client_a_job_is_a_plain_string() -> None:
    client: Any = object()
    job = Job("s1", client)
    assert json.dumps({"id": job}) == '{"id": "s1"}'
    for copied in (pickle.loads(pickle.dumps(job)), copy.copy(job), copy.deepcopy(job), job.session_id):
        assert type(copied) is str
        assert copied == "s1"
