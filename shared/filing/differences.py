"""stub"""
from typing import NamedTuple

from shared.memory import Fact


class Relations(NamedTuple):
    """How a statement stands to earlier facts."""

    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


class Differences:
    def put(self, fact: Fact, title: str) -> None: ...
