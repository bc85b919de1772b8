"""The questions of a comparison: queries from recordings or from a file, with their expected answers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import orjson
from antiphon_shared.events import QuerySubmitted, ResponseReady
from antiphon_shared.events.codec import explain
from antiphon_shared.events.session import QueryOptions, Response
from antiphon_shared.process.errors import MissingFile, UnreadableEvent
from antiphon_shared.values import Value
from pydantic import Field, ValidationError

from antiphon.recording.files import read_lines
from antiphon.recording.lines import data_in
from antiphon.replay.compare.matchers import Expected
from antiphon.replay.compare.served import Served
from antiphon.submission import Options

_UNSUPPORTED_OPTIONS = {"conversation_id", "interactive"}
"""Options that need other sessions or people, which only the plan `rounds` supports."""


@dataclass(frozen=True)
class Question:
    """A query for every plan."""

    id: str
    query: str
    options: Options = field(default_factory=lambda: Options())
    expected: Expected | None = None
    recorded: Response | None = None
    served: Served | None = None
    """The tools of its recording, which answer as recorded."""


class QuestionLine(Value):
    """A line of a file of queries, or of a file of expectations."""

    id: str = ""
    query: str = ""
    expected: Expected | None = None
    options: QueryOptions = Field(default=QueryOptions())


def of_recording(path: Path) -> Question:
    """Return the query of a recording, with its answer and its tools. Raises UnreadableEvent."""
    lines = list(read_lines(path))
    submitted = next(data_in(lines, QuerySubmitted), None)
    if submitted is None:
        raise UnreadableEvent(f"{path}: contains no query.")
    answer = next(data_in(reversed(lines), ResponseReady), None)
    recorded = None if answer is None else Response.model_validate(answer.model_dump())
    name = path.name.removesuffix(".gz").removesuffix(".jsonl").encode(errors="replace").decode()
    options = _options(submitted.options)
    return Question(name, submitted.query, options, recorded=recorded, served=Served.of(lines))


def of_file(path: Path) -> list[Question]:
    """Return the queries of a file, one per line.

    A line is a JSON object such as `{"query": ..., "expected": ...}`, or plain text. Raises UnreadableEvent,
    which names the line.
    """
    questions = []
    for number, line in _lines(path):
        parsed = _read(path, number, line) if line.startswith("{") else QuestionLine(query=line)
        if not parsed.query.strip():
            raise UnreadableEvent(f"{path}, line {number}: `query` is missing.")
        id = parsed.id or f"q{number}"
        questions.append(Question(id, parsed.query, _options(parsed.options), parsed.expected))
    return questions


def expecting(questions: Iterable[Question], path: Path) -> list[Question]:
    """Return the questions with a file's expectations, matched by id or query. Raises UnreadableEvent."""
    expected: dict[str, Expected] = {}
    for number, line in _lines(path):
        parsed = _read(path, number, line)
        if parsed.expected is None or not (parsed.id or parsed.query):
            raise UnreadableEvent(
                f"{path}, line {number}: must contain `expected`, and an `id` or a `query`."
            )
        expected[parsed.id or parsed.query] = parsed.expected
    return [_expecting(question, expected) for question in questions]


def _expecting(question: Question, expected: Mapping[str, Expected]) -> Question:
    session = question.recorded.session_id if question.recorded else ""
    for name in (question.id, session, question.query):
        if name in expected:
            return replace(question, expected=expected[name])
    return question


def _options(options: QueryOptions) -> Options:
    return cast(Options, options.model_dump(exclude_none=True, exclude=_UNSUPPORTED_OPTIONS))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers. Raises MissingFile and UnreadableEvent."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableEvent(f"{path} is not UTF-8 text: {error}.") from None
    except FileNotFoundError:
        raise MissingFile(f"{path} does not exist.") from None
    except OSError as error:
        raise UnreadableEvent(f"{path} cannot be read: {error.strerror or error}.") from None
    yield from ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _read(path: Path, number: int, line: str) -> QuestionLine:
    try:
        return QuestionLine.model_validate(orjson.loads(line))
    except orjson.JSONDecodeError as error:
        raise UnreadableEvent(f"{path}, line {number}: not JSON: {error}.") from None
    except ValidationError as error:
        raise UnreadableEvent(f"{path}, line {number}: {explain(error)}.") from None
