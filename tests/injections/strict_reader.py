"""A briefing read by its form alone, line by line; whatever is not of the form is refused.

It shares no code with what writes briefings, nor with the offline model, which reads them leniently.
"""

import re
import unicodedata
from dataclasses import dataclass, field

SECTIONS = (
    "Question", "Earlier in this conversation", "Facts", "Further facts", "Summaries", "Tools tried",
    "Reasoning so far", "Sub-questions", "Not shown", "Now",
)  # fmt: skip  # a list, not a column
_OPENING = re.compile(
    r'<result call="([^"<>\n]*)" tool="([^"<>\n]*)" round="([0-9]+)" trust="(untrusted|tool)">', re.ASCII
)
_FACT = re.compile(r"(F[0-9]+) (?:\(((?:superseded by|supersedes|contradicts|shortened)[^()]*)\) )?(.*)")
_ITEMS = {
    "Earlier in this conversation": r"- turn_[0-9]+(?: \((?:answered in part|cancelled|not answered)\))?: .+",
    "Tools tried": r"- (?:round [0-9]+: .+|already searched.*)",
    "Reasoning so far": r"- round [0-9]+: .*",
    "Sub-questions": r"- (?:open|answered): .+",
    "Not shown": r"- [0-9]+ facts? not shown.*",
    "Now": r"Round [0-9]+ of at most [0-9]+\.",
}
_IMITATION = re.compile(r"<[\W_]*result(?![a-z0-9])", re.IGNORECASE)


@dataclass
class ReadFact:
    id: str
    remarks: str
    title: str
    text: str


@dataclass
class ReadFence:
    section: str
    call: str
    tool: str
    round: str
    trust: str
    facts: list[ReadFact] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """Lines that belong to no fact: an error's message."""


@dataclass
class ReadBriefing:
    sections: dict[str, list[str]] = field(default_factory=dict)
    """The lines of each outside its fences."""
    fences: list[ReadFence] = field(default_factory=list)

    @property
    def facts(self) -> dict[str, ReadFact]:
        return {fact.id: fact for fence in self.fences for fact in fence.facts}


def read_strictly(text: str, question: str) -> ReadBriefing:
    """Raise AssertionError at the first line that is not of the form."""
    beginning = f"# Question\n{question}\n\n"
    assert text.startswith(beginning)
    briefing = ReadBriefing({"Question": [question]})
    section, title = "Question", ""
    fence: ReadFence | None = None
    for line in text.removeprefix(beginning).split("\n"):
        assert len(line.splitlines()) <= 1, f"a line separator within a line: {line!r}"
        if fence is not None:
            if line == "</result>":
                fence = None
            elif line.startswith("## "):
                title = line[3:]
            elif fact := _FACT.fullmatch(line):
                assert section in ("Facts", "Further facts"), line
                fence.facts.append(ReadFact(fact[1], fact[2] or "", title, fact[3]))
            else:
                assert line.startswith("  "), line
                _continue(fence, line[2:])
        elif opened := _OPENING.fullmatch(line):
            assert section in ("Facts", "Further facts", "Summaries", "Tools tried"), line
            fence, title = ReadFence(section, opened[1], opened[2], opened[3], opened[4]), ""
            briefing.fences.append(fence)
            continue
        elif line.startswith("# "):
            assert SECTIONS.index(line[2:]) > SECTIONS.index(section), line
            section = line[2:]
            briefing.sections[section] = []
        elif line:
            is_item = re.fullmatch(_ITEMS.get(section, r"(?!)"), line) is not None
            assert is_item or (section == "Reasoning so far" and line.startswith("  ")), (section, line)
            briefing.sections[section].append(line)
        assert line == "</result>" or not reads_as_a_fence(line), line
    assert fence is None
    return briefing


def reads_as_a_fence(text: str) -> bool:
    """Return whether a text passes for a fence by Unicode's own folding, without invisible characters."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    seen = (c for c in folded if unicodedata.category(c) not in ("Mn", "Me", "Cf", "Cc", "Cs", "Co", "Cn"))
    return _IMITATION.search("".join(seen)) is not None


def _continue(fence: ReadFence, line: str) -> None:
    if fence.facts:
        fence.facts[-1].text += f"\n{line}"
    else:
        fence.words.append(line)
