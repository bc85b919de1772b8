"""Make the recordings of this folder again: `python -m tests.recordings [NAME ...]`.

With `--choose`, all situations are recorded and cover.py chooses those to keep; without it, existing ones are renewed.

Each session runs in the real pipeline: embedded, on a redis-server of its own, with a scripted model that the SDK
reaches over a socket. If a session does not end as its scenario states, nothing is written.
"""

import argparse
import asyncio
import contextlib
import contextvars
import json
import os
import shutil
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from antiphon_shared import faults
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.events import ChildBegun, ResponseReady
from antiphon_shared.events.step_records import RunRecord
from antiphon_shared.faults.plan import read_faults
from antiphon_shared.process import logs

from antiphon import Antiphon, Response, workflows
from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import EventLine, Line, RecordLine
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.session_lines import session_lines
from antiphon.recording.settings import RecordingSettings
from antiphon.replay.redacted_lines import redacted
from antiphon.replay.verify import verify_lines
from tests.grants import FAR_FUTURE_S
from tests.recordings.cover import Candidate, chosen, features
from tests.recordings.deployments import DEPLOYMENTS, Deployment
from tests.recordings.folder import FOLDER, name_of, recordings_in
from tests.recordings.formats import opening_in
from tests.recordings.lines_run import positions_run
from tests.recordings.scenario import Meanwhile, Scenario
from tests.recordings.scenarios import SCENARIOS, child_runs, run_faults, runs
from tests.recordings.served import ScenarioServer
from tests.recordings.situations import KEPT, SITUATIONS
from tests.tool_dispatcher.keys import Issuer, an_issuer

_LONG = frozenset(
    (
        "a_briefing_that_is_too_long_for_the_model",
        "a_document_is_opened_by_what_a_search_returned",
        "a_model_that_nobody_knows_and_no_other",
        "a_model_that_overloads_twice_then_answers",
        "a_shaped_answer_by_the_tool_for_it",
        "a_shaped_answer_in_the_last_round_with_tools",
        "a_shaped_answer_that_never_comes",
        "a_tool_for_the_first_round_alone",
        "a_tool_that_keeps_failing_opens_its_breaker",
        "a_tool_whose_breaker_is_open_is_not_offered",
        "a_validated_answer_after_every_mistake",
        "a_validated_answer_that_is_never_validated",
        "a_write_after_untrusted_words_is_denied",
        "a_write_is_repeated_on_purpose",
        "a_write_that_can_be_asked_about",
        "another_model_answers_for_one_that_fails",
        "another_tool_answers_for_one_that_fails",
        "arguments_that_are_wrong_invented_or_cut_off",
        "five_calls_become_one_of_the_batch_variant",
        "many_tools_of_which_one_is_found",
        "much_is_said_and_tried_with_little_room",
        "of_two_writes_one_is_approved",
        "the_user_does_not_answer_a_question",
        "one_call_takes_too_long_one_breaks_and_one_is_too_many",
        "the_offline_model_follows_a_topic_through_courses",
        "the_same_question_twice_is_answered_from_the_cache",
        "two_boats_survey_five_harbours",
    )
)
"""Recordings with too many lines to read, and others that would take too much space."""
_COMPRESSED = _LONG.union(
    one.name for one in (*SITUATIONS, *runs.SCENARIOS, *run_faults.SCENARIOS, *child_runs.SCENARIOS)
)
TESTS = FOLDER.parent
_LIMIT_S = 120.0
_PIPELINES_AT_ONCE = 4
_SESSIONS_AT_ONCE = 6
"""The sessions of one pipeline; with more of them, some would wait until they time out."""
_AT_REST_S = 0.3
"""The time without an event after which a session counts as ended, with all its late events."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Record sessions of the real pipeline.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="name of a scenario (default: all)")
    parser.add_argument("--into", type=Path, default=FOLDER, help="folder to write to (default: %(default)s)")
    parser.add_argument(
        "--choose",
        action="store_true",
        help="record every situation, and keep the recordings that add coverage",
    )
    arguments = parser.parse_args()
    logs.silence("critical")  # what fails on purpose would fill the screen
    if arguments.choose:
        wrong = _choose(arguments.into)
    else:
        recorded = [name for name in map(name_of, recordings_in(FOLDER)) if name in SCENARIOS]
        wrong = asyncio.run(make(_with_earlier(arguments.names or recorded), arguments.into))
    for name, why in wrong.items():
        print(f"{name}: {why}", file=sys.stderr)  # noqa: T201  # it is a command
    sys.exit(bool(wrong))


def _choose(folder: Path) -> dict[str, str]:
    """Record all scenarios, and replace the recordings by the chosen ones; change nothing after any error."""
    with TemporaryDirectory() as temporary:
        wrong = asyncio.run(make(SCENARIOS, Path(temporary)))
        if wrong:
            return wrong
        kept = chosen(_candidates(Path(temporary)), named_elsewhere(SCENARIOS) | KEPT)
        for path in recordings_in(folder):
            path.unlink()
        for name in _with_earlier(kept):
            shutil.copyfile(_path(Path(temporary), name), _path(folder, name))
    return {}


def _candidates(folder: Path) -> dict[str, Candidate]:
    recordings = {name_of(path): list(read_lines(path)) for path in recordings_in(folder)}
    run = positions_run(recordings)
    return {
        name: Candidate(_path(folder, name).stat().st_size, run[name].union(features(lines)))
        for name, lines in recordings.items()
    }


def _path(folder: Path, name: str) -> Path:
    """Return the file of a scenario, which is compressed if it is long or made from a table."""
    return folder / (f"{name}.jsonl.gz" if name in _COMPRESSED else f"{name}.jsonl")


def named_elsewhere(names: Iterable[str]) -> set[str]:
    """Return the recordings that tests outside of this folder name."""
    texts = [path.read_text() for path in TESTS.rglob("*.py") if FOLDER not in path.parents]
    return {name for name in names if any(name in text for text in texts)}


async def make(names: Iterable[str], folder: Path) -> dict[str, str]:
    """Record the scenarios, those of one pipeline concurrently. Returns the errors by scenario."""
    wrong: dict[str, str] = {}
    groups: dict[tuple[str, str], list[Scenario]] = defaultdict(list)
    for scenario in (SCENARIOS[name] for name in names):
        apart = scenario.apart or (scenario.name if scenario.fault else "")
        groups[scenario.deployment, apart].append(scenario)
    pipelines, starting = asyncio.Semaphore(_PIPELINES_AT_ONCE), asyncio.Lock()

    async def record(deployment: str, scenarios: list[Scenario]) -> dict[str, list[Line] | BaseException]:
        async with pipelines:
            return await _recorded(DEPLOYMENTS[deployment], tuple(scenarios), starting)

    recording = [record(deployment, scenarios) for (deployment, _), scenarios in groups.items()]
    for done in await asyncio.gather(*recording):
        for name, made in done.items():
            if isinstance(made, BaseException):
                wrong[name] = repr(made)
                continue
            lines = _redacted(made)
            write_lines(_path(folder, name), lines)
            report = verify_lines(lines)
            if not report.is_same:
                wrong[name] = f"diverges: {report.first}"
    return wrong


async def _recorded(
    deployment: Deployment, scenarios: tuple[Scenario, ...], starting: asyncio.Lock
) -> dict[str, list[Line] | BaseException]:
    """Return the lines of each scenario, or the error that prevented them."""
    ended = {one.name: asyncio.Event() for one in scenarios}
    sessions = asyncio.Semaphore(_SESSIONS_AT_ONCE)
    async with _running(deployment, scenarios, starting) as (antiphon, server):

        async def record(one: Scenario) -> list[Line]:
            if one.after:
                await ended[one.after].wait()
            try:
                async with sessions:
                    return await _session(antiphon, server, one, deployment)
            finally:
                ended[one.name].set()

        made = await asyncio.gather(*map(record, scenarios), return_exceptions=True)
        return dict(zip(ended, made, strict=True))


@contextlib.asynccontextmanager
async def _running(
    deployment: Deployment, scenarios: tuple[Scenario, ...], starting: asyncio.Lock
) -> AsyncIterator[tuple[Antiphon, ScenarioServer]]:
    async with ScenarioServer(scenarios).listening() as server:
        access = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "none",
            "OPENAI_BASE_URL": f"{server.url}/v1",
        }
        async with starting:
            if deployment.verifies_grants:
                access["ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE"] = _issuer().key_file
            with _environment({**deployment.environment, **access}):
                antiphon = Antiphon.embedded(tools=deployment.tools, model=deployment.provider)
                struck = contextvars.copy_context()
                struck.run(faults.arm, read_faults(",".join({one.fault for one in scenarios})))
                await asyncio.create_task(antiphon.__aenter__(), context=struck)
        try:
            assert "redis-server" in antiphon.storage, antiphon.storage
            async with opening_in(deployment.format, antiphon.open_bus()):
                yield antiphon, server  # type: ignore[misc]  # listening returns what it was called on
        finally:
            await antiphon.__aexit__(None, None, None)


async def _session(
    antiphon: Antiphon, server: ScenarioServer, one: Scenario, deployment: Deployment
) -> list[Line]:
    model = {} if deployment.provider == "offline" else {"model": deployment.names_as.format(one.name)}
    claims = {"exp": FAR_FUTURE_S, "tenant": "acme", **one.claims}
    grant = _issuer().grant(one.scopes, **claims) if one.scopes else one.grant
    options = {**model, **one.options}
    if one.publishes is not None:
        await WorkflowStore(antiphon.open_bus()).publish([workflows.build(one.publishes)])
    if one.run is not None:
        source = workflows.build(one.run.source)
        await workflows.start(antiphon, "it", one.run.params, source=source, run_id=one.name)
    elif one.is_raw_entry:
        bus = antiphon.open_bus()
        fields = {"query": one.query, "session_id": one.name, "grant": grant, "options": json.dumps(options)}
        pairs = (part for pair in fields.items() for part in pair)
        await bus.batcher.submit("XADD", bus.keys.queries(), "*", *pairs)
    else:
        await antiphon.submit(one.query, session_id=one.name, grant=grant, **options)
    async with asyncio.timeout(_LIMIT_S):
        if one.meanwhile is not None:
            await one.meanwhile(Meanwhile(antiphon, one.name, lambda: server.asked(one.name)))
        response = await antiphon.result(one.name)
        _check(one, response)
        lines = await _lines(antiphon, one.name)
        return await _lines(antiphon, _begun(lines)) if one.records_child else lines


def _begun(lines: Iterable[Line]) -> str:
    """Return the first session that a session began."""
    events = (line.event.data for line in lines if isinstance(line, EventLine))
    return next(data.child for data in events if isinstance(data, ChildBegun))


@cache
def _issuer() -> Issuer:
    return an_issuer(Path(mkdtemp()))


def _check(one: Scenario, response: Response) -> None:
    if one.ends != "any" and response.termination_reason != one.ends:
        raise AssertionError(f"{one.name} ended as {response.termination_reason}, not {one.ends}: {response}")


async def _lines(antiphon: Antiphon, session_id: str) -> list[Line]:
    """Wait until the session is closed and no more events arrive, and return its recording."""
    bus = antiphon.open_bus()
    before: list[Line] = []
    while True:
        lines = [line async for line in session_lines(session_id, bus)]
        if _is_closed(lines) and len(lines) == len(before):
            return lines
        before = lines
        await asyncio.sleep(_AT_REST_S)


def _redacted(lines: list[Line]) -> list[Line]:
    """Redact the lines as `antiphon recording export` would with its own rules."""
    return redacted(lines, Redaction.of(RecordingSettings().rules, ()))


def _is_closed(lines: Iterable[Line]) -> bool:
    answers = {
        line.event.causationid
        for line in lines
        if isinstance(line, EventLine) and isinstance(line.event.data, ResponseReady)
    }
    records = [line.record for line in lines if isinstance(line, RecordLine)]
    return any(
        getattr(one, "closes", False) or (isinstance(one, RunRecord) and one.of in answers) for one in records
    )


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set the environment for the block: a pipeline reads its settings only when it starts."""
    before = {name: os.environ[name] for name in variables if name in os.environ}
    os.environ |= variables
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
        os.environ |= before


def _with_earlier(names: Iterable[str]) -> list[str]:
    """Return the scenarios, each after the ones that it continues."""
    in_order: dict[str, None] = {}
    for name in names:
        chain = [name]
        while earlier := SCENARIOS[chain[-1]].after:
            chain.append(earlier)
        in_order |= dict.fromkeys(reversed(chain))
    return list(in_order)
