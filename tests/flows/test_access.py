"""The pipeline on a Redis with the access list that `antiphon redis acl` prints: each with its own user."""

import asyncio
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.events import COMPONENTS, InputRequested

from antiphon import Antiphon, workflows
from antiphon.redis_acl import acl_file
from antiphon.redis_rules import USERS
from tests.flows.pipeline import ANSWERED, FALLS_OVER, PONDERS, Pipeline, pipeline, script
from tests.messages_server import Scripted, Use

ADMIN = "admin:secret"


@contextmanager
def guarded(
    tmp_path: Path,
    partitions: int = 1,
    is_started: bool = True,
    scripted: Sequence[Scripted] | None = None,
) -> Iterator[Pipeline]:
    """Yield a pipeline whose Redis knows the users of the file and an administrator; passwords are the names."""
    acl = tmp_path / "users.acl"
    text = acl_file(Keys("antiphon", partitions), {user: user for user in USERS})
    acl.write_text(f"{text}user admin on >secret ~* &* +@all\n")
    with pipeline(
        partitions=partitions,
        redis_options=["--aclfile", str(acl)],
        login=ADMIN,
        logins={component: f"{component}:{component}" for component in COMPONENTS},
        is_started=is_started,
        scripted=scripted,
        ANTIPHON_BUS_LEASE_S="1",
        ANTIPHON_BUS_MAX_OPEN_SESSIONS="2",
    ) as five:
        yield five


def refusals(five: Pipeline) -> list[str]:
    """Return the refused commands by user, without those that the client library tries on every server."""
    refused = [f"{one['username']}: {one['object']}" for one in five.client.acl_log(128)]
    return [line for line in refused if "setinfo" not in line.lower()]


def as_user(five: Pipeline, user: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return five.antiphon(*arguments, url=five.redis.url_of(f"{user}:{user}"))


@pytest.mark.parametrize(
    ("partitions", "follow_ups"), [(1, 5), (12, 60)], ids=["1", "12, and more than a conversation keeps"]
)
def test_five_processes_answer_with_no_more_rights_than_they_need(
    tmp_path: Path, partitions: int, follow_ups: int
) -> None:
    with guarded(tmp_path, partitions) as five:
        for n in range(10):
            five.submit(f"How high is number {n}?")
        five.add(five.keys.queries(), {"question": "there is no such field"})
        for n in range(follow_ups):
            five.submit(f"And number {n}?", options='{"conversation_id": "c1"}')
        five.wait_for_responses(10 + follow_ups)
        five.wait_until_idle()
        answers = {response.answer.partition("\n")[0] for response in five.responses()}
        assert answers == {ANSWERED}
        assert five.client.xlen(five.keys.rejected()) == 1
        assert refusals(five) == []


def test_deliveries_of_a_dead_worker_are_reclaimed_and_dead_lettered_within_the_rights(
    tmp_path: Path,
) -> None:
    """Reclaims, dead letters, retries and consumers that leave, which a quiet run does not have."""
    with guarded(tmp_path) as five:
        five.submit(FALLS_OVER)
        five.until(lambda: five.running["tool_dispatcher"].poll() is not None, "the dispatcher to end")
        for _ in range(6):
            if five.response_count():
                break
            five.start("tool_dispatcher")
            five.until(
                lambda: bool(five.response_count()) or five.running["tool_dispatcher"].poll() is not None,
                "the dispatcher to end again, or an answer",
            )
        five.wait_for_responses(1)
        for component in COMPONENTS:
            five.terminate(component, 60)
        assert refusals(five) == []


def test_a_client_asks_and_reads_and_an_operator_looks_and_repairs(tmp_path: Path) -> None:
    with guarded(tmp_path) as five:
        asked = as_user(five, "client", "ask", "How high is it?", "--json")
        assert (asked.returncode, "wide" in asked.stdout) == (0, True), asked.stderr
        (session,) = five.session_ids()

        async def count_of_events() -> int:
            async with Antiphon(five.redis.url_of("client:client")) as antiphon:
                return len([one async for one in antiphon.stream(session)])

        assert asyncio.run(count_of_events()) > 5
        five.add(five.keys.inbox(0, "coordinator"), {"event": "{}", "log": "1-1"})
        five.until(lambda: five.client.xlen(five.keys.dead(0)) == 1, "a dead letter")
        letter = five.entries(five.keys.dead(0))[0][0].decode()
        for arguments in (
            ("status",),
            ("metrics",),
            ("breakers", "open", "tool:look_up", "--because", "a test"),
            ("breakers", "list"),
            ("breakers", "close", "tool:look_up"),
            ("health", "coordinator"),
            ("sessions", "list"),
            ("sessions", "list", "--conversation", "c1", "--json"),
            ("sessions", "show", session),
            ("sessions", "watch", session),
            ("sessions", "cancel", session),
            ("recording", "export", session, "-o", str(tmp_path / "recordings")),
            ("recording", "export", "--since", "1h", "-o", str(tmp_path / "recordings")),
            ("tools", "list"),
            ("dead", "list"),
            ("dead", "show", f"0/{letter}"),
            ("dead", "drop", f"0/{letter}"),
        ):
            done = as_user(five, "operator", *arguments)
            assert (done.returncode, done.stderr) == (0, done.stderr), (arguments, done.stderr)
        five.submit(PONDERS, session_id="cancelled")
        pid = five.running["tool_dispatcher"].pid
        five.until(lambda: five.ledger.under_way(pid, "ponder") == 1, "a tool to take long")
        assert as_user(five, "operator", "sessions", "cancel", "cancelled").returncode == 0
        assert five.response_to("cancelled").status == "cancelled"
        five.until(lambda: not five.pending("tool_dispatcher"), "the tool to be stopped")
        assert refusals(five) == []
        five.client.delete(five.keys.log(session))
        exported = tmp_path / "recordings" / f"{session}.jsonl"
        refused = as_user(five, "operator", "recording", "import", str(exported))
        assert (refused.returncode, "administrator" in refused.stderr) == (2, True), refused.stderr
        refused = as_user(five, "client", "dead", "list")
        assert refused.returncode == 3
        assert "permission" in refused.stderr


BOTH = "run the workflow and the recipe"
SPECIFICATION = workflows.build(
    {
        "domain": "notes",
        "version": "1",
        "workflows": {
            "note": {
                "description": "Write a width down.",
                "params": {"what": {"type": "str", "required": True}},
                "graph": {"noted": {"call": "write_down", "args": {"what": "$what"}}},
            },
            "ask": {
                "description": "Ask a person.",
                "graph": {
                    "asked": {"type": "yield", "message": "Is it so?", "expects": {"yes": "bool"}},
                    "noted": {"call": "write_down", "args": {"what": "it"}, "depends_on": ["asked"]},
                },
            },
        },
    }
)


def test_workflows_and_recipes_are_offered_planned_with_and_run_within_the_rights(tmp_path: Path) -> None:
    uses = (
        Use(name="_plan", input={"goal": "note the width"}),
        Use(name="w_note", input={"what": "width"}),
        Use(name="r_learned"),
    )
    scripted = [Scripted(when=BOTH, uses=uses), Scripted(when=BOTH, text="Done."), *script()]

    async def publish() -> None:
        async with Antiphon(five.redis.url_of("operator:operator"), partitions=12) as operator:
            await WorkflowStore(operator.open_bus()).publish([SPECIFICATION])

    async def start() -> str:
        async with Antiphon(five.redis.url_of("client:client"), partitions=12) as client:
            return await workflows.start(client, "ask")

    async def give(run_id: str) -> None:
        async with Antiphon(five.redis.url_of("operator:operator"), partitions=12) as operator:
            token = await workflows.token_of(operator, run_id)
            await workflows.give(operator, run_id, {"yes": True}, token=token)

    with guarded(tmp_path, 12, scripted=scripted) as five:
        five.submit("How high is it?", session_id="first")
        assert five.response_to("first").status == "complete"
        learned = as_user(five, "operator", "recipes", "learn", "first", "--name", "learned")
        assert learned.returncode == 0, learned.stderr
        asyncio.run(publish())
        five.submit(BOTH, session_id="second")
        answer = five.response_to("second")
        assert answer.status == "complete", answer
        statuses = {result["tool"]: result["status"] for result in five.results("second")}
        assert statuses == {"_plan": "ok", "w_note": "ok", "r_learned": "ok"}
        run_id = asyncio.run(start())
        five.until(lambda: bool(five.events(run_id, InputRequested)), "the run to wait for a person")
        asyncio.run(give(run_id))
        assert five.response_to(run_id).status == "complete"
        assert refusals(five) == []
