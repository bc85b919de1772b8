"""The form of a data set: JSON Lines, one question a line. docs/memory-benchmark.md explains it.

    {"id": "q1", "kind": "two-hop", "question": "...", "gold": ["An exact sentence."], "rounds": [
        {"calls": [{"tool": "search", "query": "...", "results": [{"title": "...", "text": "..."}]}]}]}

Read leniently: short forms are unfolded here, unknown fields are ignored.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from benchmarks.memory.sentences import sentences, squeeze

_ROUNDS_MAX = 999
"""A session's rounds are numbered to 1000, and the last one answers."""
_DIALOGUE_LINE = re.compile(r"\s*[A-Z][\w .'’-]{0,40}: ")


class UnreadableData(Exception):
    """A data set cannot be read; the text says where, and what to do."""


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Passage(_Form):
    """One titled text among a search's results."""

    title: str = ""
    text: str
    parts: tuple[str, ...] = ()
    """Its sentences as they were given; empty when only the text was."""

    @model_validator(mode="before")
    @classmethod
    def _unfold(cls, given: Any) -> Any:
        """Read text alone, a pair of title and sentences as in HotpotQA, or `sentences` in place of `text`."""
        if isinstance(given, str):
            return {"text": given}
        if isinstance(given, list) and len(given) == 2:
            given = {"title": given[0], "sentences" if isinstance(given[1], list) else "text": given[1]}
        if not isinstance(given, dict):
            return given
        given = {**given, "title": "" if given.get("title") is None else str(given["title"])}
        listed = given.get("sentences")
        if isinstance(listed, list) and listed and all(isinstance(part, str) for part in listed):
            parts = [part.strip() for part in listed]
            return {
                **given,
                "text": given.get("text") or _join(parts, given.get("joined_by")),
                "parts": parts,
            }
        named = [given[name] for name in ("text", "paragraph_text", "content", "body") if name in given]
        return {**given, "text": named[0]} if named else given

    @property
    def sentences(self) -> tuple[str, ...]:
        return self.parts or sentences(self.text)


class Call(_Form):
    """One search of a round, and what it returned."""

    tool: str = Field(default="search", min_length=1, max_length=200)
    arguments: dict[str, Any] = {}
    results: tuple[Passage, ...] = Field(
        validation_alias=AliasChoices("results", "passages", "paragraphs", "documents")
    )

    @model_validator(mode="before")
    @classmethod
    def _unfold(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "arguments" in given:
            return given
        query = given.get("query", given.get("search"))
        return given if query is None else {**given, "arguments": {"query": query}}

    @property
    def query(self) -> str:
        """The search: the argument of that name, otherwise all its texts."""
        named = self.arguments.get("query")
        texts = (
            [named] if isinstance(named, str) else [v for v in self.arguments.values() if isinstance(v, str)]
        )
        return " ".join(texts)


class Round(_Form):
    """The calls of one round: one search or several at once."""

    calls: tuple[Call, ...] = Field(min_length=1)
    reasoning: str = ""
    """The model's text with its calls; usually empty."""

    @model_validator(mode="before")
    @classmethod
    def _unfold(cls, given: Any) -> Any:
        if isinstance(given, dict) and "calls" not in given:
            return {"calls": [given], "reasoning": given.get("reasoning", "")}
        return given


class GoldPlace(_Form):
    """A gold sentence by its place: the passage's title, and the sentence's number, counted from 0."""

    title: str = Field(validation_alias=AliasChoices("title", "passage"))
    sentence: int = Field(ge=0)

    @model_validator(mode="before")
    @classmethod
    def _unfold(cls, given: Any) -> Any:
        return (
            {"title": given[0], "sentence": given[1]}
            if isinstance(given, list) and len(given) == 2
            else given
        )


class GoldText(_Form):
    """A gold sentence in its words."""

    text: str = Field(validation_alias=AliasChoices("text", "sentence"))


class Question(_Form):
    """One question, the rounds of results that were gathered for it, and the sentences that answer it."""

    id: str = ""
    kind: str = "all"
    question: str = Field(validation_alias=AliasChoices("question", "query"), min_length=1)
    sub_questions: tuple[str, ...] = ()
    rounds: tuple[Round, ...] = Field(min_length=1, max_length=_ROUNDS_MAX)
    gold_given: tuple[str | GoldPlace | GoldText, ...] = Field(
        min_length=1, validation_alias=AliasChoices("gold", "gold_sentences", "supporting_facts")
    )
    answers: tuple[str, ...] = ()
    """The short texts that make up the answer; unknown when empty."""

    @model_validator(mode="before")
    @classmethod
    def _unfold(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        gold = {
            name: [v] for name in ("gold", "gold_sentences") if isinstance(v := given.get(name), str | dict)
        }
        named = {name: str(v) for name in ("id", "kind") if (v := given.get(name)) is not None}
        answers = given.get("answers", given.get("answer"))
        answered = {"answers": [answers] if isinstance(answers, str) else answers or ()}
        return {**given, **gold, **named, **answered}

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All results, in order, repeated ones included."""
        return tuple(passage for round in self.rounds for call in round.calls for passage in call.results)

    @cached_property
    def gold(self) -> tuple[str, ...]:
        """The gold sentences' texts, each once. Raises LookupError for a place that is in no result."""
        return tuple(dict.fromkeys(self._gold_text(given) for given in self.gold_given))

    @cached_property
    def unreachable(self) -> tuple[str, ...]:
        """The gold sentences that no result has, so that no method can find them."""
        texts = [squeeze(passage.text) for passage in self.passages]
        return tuple(gold for gold in self.gold if not any(squeeze(gold) in text for text in texts))

    def _gold_text(self, given: "str | GoldPlace | GoldText") -> str:
        if isinstance(given, str):
            return given.strip()
        if isinstance(given, GoldText):
            return given.text.strip()
        for passage in self.passages:
            if passage.title == given.title and given.sentence < len(passage.sentences):
                return passage.sentences[given.sentence]
        raise LookupError(
            f"gold names sentence {given.sentence} of {given.title!r}, which is in no result. Give that passage"
            " `sentences` (numbers count from 0), or put the sentence's exact text into `gold`."
        )


def read(path: Path) -> list[Question]:
    """Return all questions of a file. Raises UnreadableData, with the line, when one cannot be used."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableData(f"{path}: {error}. Give a readable file of JSON Lines in UTF-8.") from None
    questions = [_question(line, f"{path}, line {n}", n) for n, line in enumerate(lines, 1) if line.strip()]
    if not questions:
        raise UnreadableData(f"{path} holds no question. Put one JSON object on each line.")
    return questions


def write(questions: Iterable[Question]) -> Iterator[str]:
    """Yield the lines of a file that `read` reads, in the long form."""
    for question in questions:
        calls_by_round = [
            {
                "calls": [
                    {**call.model_dump(), "results": list(map(_passage, call.results))}
                    for call in round.calls
                ]
            }
            for round in question.rounds
        ]
        line = {
            "id": question.id,
            "kind": question.kind,
            "question": question.question,
            "rounds": calls_by_round,
            "gold": question.gold,
            **({"answers": question.answers} if question.answers else {}),
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _passage(passage: Passage) -> dict[str, Any]:
    """Return a passage by its sentences where they were given: a line of dialogue may be several sentences."""
    for joined_by in (" ", "\n"):
        if passage.parts and joined_by.join(passage.parts) == passage.text:
            return {"title": passage.title, "sentences": passage.parts, "joined_by": joined_by}
    return {"title": passage.title, "text": passage.text}


def _question(line: str, where: str, number: int) -> Question:
    try:
        given = _without_surrogates(json.loads(line))
        question = Question.model_validate(given)
        question = question if question.id else question.model_copy(update={"id": f"line-{number}"})
        if not all(question.gold):
            raise LookupError("an entry of gold is empty. Leave it out, or put the exact sentence there.")
    except (json.JSONDecodeError, RecursionError) as error:
        raise UnreadableData(
            f"{where} is no JSON: {error}. Put one whole JSON object on each line."
        ) from None
    except ValidationError as error:
        raise UnreadableData(f"{where}: {_first_fault(error)} The form: docs/memory-benchmark.md.") from None
    except LookupError as error:
        raise UnreadableData(f"{where}: {error.args[0]}") from None
    return question


def _without_surrogates(given: Any) -> Any:
    """Replace half characters, which JSON allows and UTF-8 does not, by question marks."""
    return json.loads(json.dumps(given, ensure_ascii=False).encode("utf-8", "replace"))


def _first_fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    place = ".".join(str(part) for part in fault["loc"]) or "the line"
    return f"`{place}`: {fault['msg']}."


def _join(parts: Sequence[str], joined_by: Any) -> str:
    if isinstance(joined_by, str):
        return joined_by.join(parts)
    dialogue_lines = sum(_DIALOGUE_LINE.match(part) is not None for part in parts)
    return ("\n" if dialogue_lines * 2 > len(parts) else " ").join(parts)
