"""The expectations about an answer, and their check. Pure.

Only the text of the answer counts, without its citations and its list of sources.
"""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

from antiphon_shared.events.session import Response
from antiphon_shared.values import Value
from pydantic import BeforeValidator, Field

_SOURCES = "\n\n**Sources**\n\n"
_CITATION = re.compile(r"\\?\[(?:\d{1,3}|…|F\d{1,9}(?:-F\d{1,9})?\?)\]")
_MARKUP = re.compile(r"[*_`>#]+")
_NUMBER = re.compile(r"(?<![\w.,])[-+−]?(?:\d{1,3}(?:[,\u00a0\u202f]\d{3}){1,10}|\d{1,40})(?:\.\d{1,40})?")
_ENDING = ".!?:; "
_TIGHT = 1e-9


def _as_number(value: object) -> Any:
    is_plain = isinstance(value, int | float) and not isinstance(value, bool)
    return {"value": value} if is_plain else value


def _as_list(value: object) -> Any:
    return [value] if isinstance(value, str) else value


class Numeric(Value):
    """A number that the answer must contain."""

    value: float
    tolerance: float = Field(default=0.0, ge=0, description="Maximum deviation from the value.")


class Expected(Value):
    """The expected content of an answer; an omitted field has no expectation."""

    exact: str | None = Field(
        default=None, description="The whole answer, ignoring case, spacing and markup."
    )
    contains: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_as_list)] = Field(
        default=(), description="Texts that the answer contains, ignoring case, spacing and markup."
    )
    numeric: Annotated[Numeric | None, BeforeValidator(_as_number)] = Field(
        default=None, description="Number in the answer, ignoring its unit."
    )
    sources: int | None = Field(default=None, ge=0, description="Minimum number of cited sources.")


def matched(expected: Expected, response: Response) -> Mapping[str, bool]:
    """Return, by the name of each matcher with an expectation, whether the response meets it."""
    results: dict[str, bool] = {}
    text = answer_text(response.answer)
    if expected.exact is not None:
        results["exact"] = plain(text) == plain(expected.exact)
    if expected.contains:
        words = plain(text)
        results["contains"] = all(plain(one) in words for one in expected.contains)
    if expected.numeric is not None:
        results["numeric"] = _contains(text, expected.numeric)
    if expected.sources is not None:
        results["sources"] = sum(source.number > 0 for source in response.sources) >= expected.sources
    return results


def answer_text(answer: str) -> str:
    """Return the answer without its citations and its list of sources."""
    return _CITATION.sub("", answer.rpartition(_SOURCES)[0] or answer)


def plain(text: str) -> str:
    """Return the text without markup, case, extra spacing and final punctuation."""
    return " ".join(_MARKUP.sub(" ", text).casefold().split()).rstrip(_ENDING)


def numbers_in(text: str) -> list[float]:
    """Return the numbers in a text, such as `1,234.5` and `-3`; the digits of `F16` or `v2` do not count."""
    return [_read(match[0]) for match in _NUMBER.finditer(text)]


def without_numbers(text: str) -> str:
    """Return the text with a mark in place of each number that `numbers_in` finds."""
    return _NUMBER.sub("#", text)


def _contains(text: str, expected: Numeric) -> bool:
    return any(
        math.isclose(number, expected.value, rel_tol=_TIGHT, abs_tol=max(expected.tolerance, _TIGHT))
        for number in numbers_in(text)
    )


def _read(number: str) -> float:
    return float(re.sub(r"[,\u00a0\u202f]", "", number).replace("−", "-"))
