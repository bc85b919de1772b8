"""No command passes control characters in texts of a tool, a model or a client on to a terminal."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis
from antiphon_shared.breakers.breaker import Breaker, ForcedOpen
from antiphon_shared.bus.keys import Keys
from antiphon_shared.events.session import Response, Source, Turn, Uncertainty
from antiphon_shared.process.clock import utc_now
from antiphon_shared.tools.calls import Catalogue, ToolDefinition
from antiphon_shared.workflows.publication import PublishedDomain
from antiphon_shared.workflows.recipe import Recipe
from antiphon_shared.workflows.specification import Specification, canonical, specification_hash
from typer.main import get_command

from antiphon.cli import app
from antiphon.cli.live import show_answer
from antiphon.cli.output import print_json
from antiphon.cli.printer import Printer, one_line
from antiphon.errors import InvalidQuery
from antiphon.recording.lines import FORMAT
from tests.antiphon.cli.workflows.hostile_run import RUN_ID, put_run
from tests.antiphon.conftest import ROOT, InProcess
from tests.antiphon.recording.changed import bound, unbound
from tests.redis_server import RedisServer

HOSTILE = (
    " \x1b]52;c;cm0gLXJm\x07\x1b[2J\x1b]0;owned\x1b\\\x9b2J\x9d0;t\x9c\x7f\x00\x08\x85\u202e\u2066\u200f"
    "[red][link=file:///x]y[/link] "
)
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
OWN = re.compile(r"\x1b\[(?:[0-9;]*m|\?25[lh]|[0-9]*A|2K|1A)|\r")
"""The control sequences that rich itself writes: colours, and lines that come and go."""
FREE_TEXT = {
    *(
        "about",
        "answer",
        "because",
        "choices",
        "description",
        "excerpt",
        "last_round_because",
        "message",
        "note",
    ),
    *(
        "notice",
        "problem",
        "query",
        "question",
        "reason",
        "refused",
        "substitute_because",
        "suggested_action",
    ),
    *("text", "title", "topic", "what", "by"),
}
HASHED = ("catalogue", "content")
"""Lines of a recording that are named by the hash of their content."""
LOG_ENTRY = re.compile(r"\d+-\d+")
SESSIONS = ("a_question_and_an_approval_in_one_batch", "parallel_reads_and_one_that_fails")
PLAIN = {
    "grants": "keys and grants of one's own",
    "redis": "settings",
    "settings": "settings",
    "events": "models",
    "workflows schema": "models",
}
"""Groups and commands that print nothing that came from elsewhere."""
LIVE = {
    *("ask", "submit", "up", "run", "metrics", "health", "tools check", "replay call", "replay fork"),
    *(
        "replay rerun",
        "replay compare",
        "sessions cancel",
        "sessions approve",
        "sessions deny",
        "sessions answer",
    ),
    *("dead requeue", "dead drop", "breakers open", "breakers close"),
}
"""Commands that print their arguments, or an answer like `show_answer`, or tables like the other commands."""


@pytest.fixture
def environment(redis_server: RedisServer, folder: Path, run: InProcess) -> Iterator[dict[str, str]]:
    """Store sessions, dead letters, tools, breakers and turns, hostile in every text, and recordings in files."""
    variables = {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": f"t{uuid4().hex[:12]}"}
    for name in SESSIONS:
        content = (ROOT / "tests/recordings" / f"{name}.jsonl").read_bytes()
        read = [json.loads(line) for line in unbound(content)]
        read[0]["format"] = FORMAT
        hostile = [json.dumps(one if one["line"] in HASHED else poisoned(one)) for one in read]
        (folder / f"{name}.jsonl").write_bytes(bound(line.encode() for line in hostile))
    imported = run("recording", "import", *(f"{name}.jsonl" for name in SESSIONS), **variables)
    assert imported.exit_code == 0, imported.stderr
    keys = Keys(variables["ANTIPHON_NAMESPACE"], 1)
    client: redis.Redis = redis.Redis.from_url(redis_server.url, protocol=3)
    error = {"code": "internal_error", "message": HOSTILE}
    letter: dict[str, Any] = {
        "component": "coordinator",
        "entry": "1-1",
        "session_id": HOSTILE,
        "event_type": HOSTILE,
    }
    letter = {**letter, "error": error, "buried": "2026-11-21T12:00:00Z"}
    client.xadd(keys.dead(0), {"letter": json.dumps(letter), "event": f"event {HOSTILE}"}, id="1-1")
    client.xadd(keys.dead(0), {"letter": "", "event": HOSTILE}, id="2-1")
    schema = {"type": "object", "properties": {HOSTILE: {"type": "string", "description": HOSTILE}}}
    tool = ToolDefinition(name="search", description=HOSTILE, input_schema=schema, effect="read")
    client.set(keys.catalogue_content("c0ffee"), Catalogue(tools=(tool,)).model_dump_json())
    client.set(keys.catalogue(), "c0ffee")
    forced_open = Breaker().force_open(ForcedOpen(at=1e9, by=HOSTILE, because=HOSTILE))
    client.hset(keys.breakers(), "tool:search", forced_open.model_dump_json(exclude_defaults=True))
    flow = hostile_workflows()["workflows"]["w"]
    file = {"domain": "d", "version": HOSTILE, "workflows": {"w": flow}}
    recipe = Recipe(name="w", file=file, tools={HOSTILE: HOSTILE}, learned_from=("s1",))
    client.hset(keys.recipes(), "w", recipe.model_dump_json())
    client.zadd(keys.recipes_recency(), {"w": 1})
    turn = Turn(session_id="s9", at=utc_now(), question=HOSTILE, answer=HOSTILE, status="complete")
    client.hset(keys.conversation("default", "c1"), "s9", turn.model_dump_json())
    (folder / "hostile.json").write_text(json.dumps(hostile_workflows()))
    (folder / "unfit.json").write_text(json.dumps({HOSTILE: HOSTILE, "domain": HOSTILE}))
    put_run(client, keys, HOSTILE)
    valid = hostile_workflows()
    del valid["workflows"]["w"]["graph"]["b"]  # its condition cannot be read
    published = Specification.model_validate(valid)
    content_hash = specification_hash(published)
    client.set(keys.specification(content_hash), canonical(published))
    domain = PublishedDomain(version=HOSTILE, specification=content_hash, workflows=("w",))
    client.hset(keys.workflows(), "d", domain.model_dump_json())
    yield variables
    client.close()


def hostile_workflows() -> dict[str, Any]:
    """Write a file of workflows with hostile text wherever it may hold text."""
    unused = {"type": "str", "description": HOSTILE, "example": HOSTILE, "default": HOSTILE}
    branch = {"type": "branch", "on": [{"when": f"'{HOSTILE}' == $p", "goto": "e"}], "depends_on": ["c"]}
    graph = {"c": {"call": f"t{HOSTILE}"[:64], "args": {HOSTILE: HOSTILE}}, "b": branch}
    graph["e"] = {"type": "error", "message": HOSTILE}
    flow = {"description": HOSTILE, "params": {"p": unused, "q": unused}, "graph": graph}
    return {"domain": "d", "version": HOSTILE, "workflows": {"w": flow}}


def poisoned(value: Any, key: str = "") -> Any:
    """Return the same JSON with a hostile text in each string that may hold any."""
    match value:
        case dict():
            return {name: poisoned(one, name) for name, one in value.items()}
        case list():
            return [poisoned(one, key) for one in value]
        case str() if key in FREE_TEXT and value and not LOG_ENTRY.fullmatch(value):
            return f"{value}{HOSTILE}"
        case _:
            return value


def walks() -> dict[str, list[tuple[str, ...]]]:
    """Return the arguments for each command that prints texts of others."""
    ids = ["s1", "s2"]
    files = [f"{name}.jsonl" for name in SESSIONS]
    both = [
        ("sessions", "list"),
        ("sessions", "list", "--conversation", "c1"),
        ("dead", "list"),
        ("tools", "list"),
    ]
    both += [("status",), ("breakers", "list"), ("tools", "show", "search"), ("replay", "context", *files)]
    both += [("dead", "show", id) for id in ("0/1-1", "0/2-1")]
    both += [("sessions", verb, id) for verb in ("show", "watch") for id in ids]
    both += [("replay", "verify", *files), ("replay", "diff", *files)]
    both += [("replay", "verify", "--inject", "cancelled@8", *files), ("recording", "scan", *files)]
    both += [("recording", "check", *files)]
    both += [("workflows", "validate", "hostile.json", "unfit.json"), ("workflows", "list", "hostile.json")]
    both += [
        ("workflows", "validate", "hostile.json", "--tools", "recipes"),
        ("workflows", "list", "unfit.json"),
    ]
    both += [("workflows", "dry-run", "w", "hostile.json", *more) for more in ((), ("--cover",))]
    both += [("workflows", "list"), ("workflows", "show", "w"), ("workflows", "dry-run", "w")]
    both += [("workflows", "publish", *files) for files in (("hostile.json",), ("unfit.json",))]
    both += [("workflows", "withdraw", HOSTILE), ("workflows", "run", HOSTILE, "hostile.json")]
    both += [("workflows", "run", "w", "--param", f"p={HOSTILE}", "--param", f"{HOSTILE}=1")]
    both += [("workflows", "runs", "list")]
    both += [("workflows", "runs", verb, RUN_ID) for verb in ("show", "watch", "resume")]
    both += [("workflows", "runs", "answer", RUN_ID, f"a={HOSTILE}")]
    both += [("workflows", "runs", "settle", RUN_ID, HOSTILE, "--happened")]
    both += [("workflows", "runs", "cancel", RUN_ID, "--reason", HOSTILE)]
    both += [("sessions", verb, RUN_ID) for verb in ("show", "watch")]
    both += [("workflows", "show", "w", "hostile.json"), ("workflows", "show", HOSTILE, "hostile.json")]
    both += [("recipes", "list"), ("recipes", "show", "w"), ("recipes", "show", HOSTILE)]
    both += [("recipes", "learn", *files, "--dry-run"), ("recipes", "forget", HOSTILE)]
    both += [("recipes", "learn", files[1], "--dry-run", "--name", name) for name in ("w", HOSTILE)]
    asked = [(*words, *more) for words in both for more in ((), ("--json",))]
    asked += [("replay", "verify", "--github", *files), ("replay", "update", "--dry-run", *files)]
    asked += [("replay", "context", "--facts", *files), ("recording", "export", "--all", "-o", "out")]
    forms: list[tuple[str, ...]] = [(), ("--format", "mermaid")]
    asked += [("workflows", "graph", "w", "hostile.json", *form) for form in forms]
    asked += [("workflows", "validate", "hostile.json", "unfit.json", "--github")]
    asked += [("recording", "import", *files), ("tools", "show", HOSTILE), ("sessions", "show", HOSTILE)]
    walked: dict[str, list[tuple[str, ...]]] = {}
    for words in asked:
        named = words[0] if words[0] == "status" else " ".join(words[: 3 if words[1] == "runs" else 2])
        walked.setdefault(named, []).append(words)
    return walked


@pytest.mark.parametrize("is_terminal", [False, True], ids=["piped", "terminal"])
def test_no_command_prints_control_characters_of_hostile_text(
    is_terminal: bool, run: InProcess, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antiphon.confirmation.READ_S", 0.1)  # no coordinator decides on the values
    ids = run.json("sessions", "list", **environment)
    named = dict(zip(("s1", "s2"), (one["session_id"] for one in ids), strict=False))  # the last is the run
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm"} if is_terminal else {}
    seen = 0
    for words in (words for many in walks().values() for words in many):
        typed = [named.get(word, word) for word in words]
        result = run(*typed, **environment, **terminal)
        output = result.stdout + result.stderr
        shown = OWN.sub("", output) if is_terminal else output
        assert not OBEYED.search(shown), (words, OBEYED.search(shown), output)
        seen += "[red]" in output
        if "--json" in words and result.exit_code == 0:
            seen += "\\u202e" in result.stdout
            for one in documents(result.stdout):
                json.loads(one)
    assert seen > 20, "the text is shown with its markup, and JSON keeps its meaning"


def documents(text: str) -> list[str]:
    """Return one JSON document per line, or one in all."""
    lines = text.splitlines()
    return lines if all(line.startswith(("{", "[")) for line in lines) else [text]


def test_every_command_is_covered_or_prints_no_foreign_text() -> None:
    def named(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
        subcommands = command.list_commands(None) if hasattr(command, "list_commands") else []
        if not subcommands:
            yield " ".join(path)
        for name in subcommands:
            yield from named(command.get_command(None, name), (*path, name))

    known = {*walks(), *LIVE}
    assert [
        name
        for name in named(get_command(app))
        if name not in known and PLAIN.keys().isdisjoint((name, name.split()[0]))
    ] == []


@pytest.mark.parametrize("is_json", [False, True])
@pytest.mark.parametrize("is_terminal", [False, True])
def test_an_answer_is_harmless_in_all_its_parts(
    is_json: bool, is_terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
    source = Source(id="F1", tool=HOSTILE, call_id=HOSTILE, title=HOSTILE, excerpt=HOSTILE)
    uncertainty = Uncertainty(kind=HOSTILE, message=HOSTILE, about=HOSTILE)
    link = f"[words](http://example.com/{HOSTILE.strip()} 'x')"
    response = Response(
        session_id="s1",
        status="complete",
        termination_reason="natural_completion",
        answer=f"So it is.{HOSTILE}\n\n{link}\n\n```\n{HOSTILE}\n```\n",
        sources=(source,),
        uncertainty=(uncertainty,),
        rounds_used=1,
        tool_calls_used=0,
        duration_ms=1,
    )
    show_answer(response, is_json)
    shown = capsys.readouterr()
    output = shown.out + shown.err
    assert not OBEYED.search(OWN.sub("", output) if is_terminal else output)
    assert "So it is." in shown.out
    if is_json:
        assert json.loads(shown.out)["answer"] == response.answer


def test_a_running_line_takes_no_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    import sys

    with Printer(sys.stderr).status("waiting") as status:
        status.update(f"[bold red]{HOSTILE}[/bold red] [/]")
    assert "[bold red]" in capsys.readouterr().err


def test_json_that_orjson_refuses_is_still_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"lone": "\ud800", "large": 2**70, "c1": "\x9b"})
    output = capsys.readouterr().out
    assert json.loads(output) == {"lone": "\ud800", "large": 2**70, "c1": "\x9b"}
    assert output.isascii()


def test_an_error_quotes_harmlessly(run: InProcess) -> None:
    assert not OBEYED.search(one_line(InvalidQuery(HOSTILE)))


PRINTING: tuple[Callable[[ast.AST], bool], ...] = (
    lambda node: isinstance(node, ast.Import) and any(one.name.split(".")[0] == "rich" for one in node.names),
    lambda node: isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rich",
    lambda node: isinstance(node, ast.Name) and node.id == "print",
    lambda node: (
        isinstance(node, ast.Attribute)
        and node.attr in ("write", "writelines", "buffer")
        and isinstance(node.value, ast.Attribute)
        and node.value.attr in ("stdout", "stderr", "__stdout__", "__stderr__")
    ),
    lambda node: (
        isinstance(node, ast.Attribute)
        and node.attr in ("echo", "secho", "echo_via_pager")
        and isinstance(node.value, ast.Name)
    ),
)


def test_no_file_of_the_command_line_prints_around_its_two_modules() -> None:
    around = [
        f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', '?')}"
        for file in sorted((ROOT / "antiphon/cli").rglob("*.py"))
        if file.name not in ("output.py", "printer.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if any(is_printing(node) for is_printing in PRINTING)
    ]
    assert around == []


def test_markdown_entities_add_no_control_characters() -> None:
    printed = StringIO()
    Printer(printed).markdown("a&#8238;b &#x202E;c &rlm;d &#00008238;e &#82&#8238;38; &amp; &eacute;")
    assert OBEYED.search(printed.getvalue()) is None
    assert "& é" in printed.getvalue()
