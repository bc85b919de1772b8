"""The handbook as values, read from the Markdown file beside this one."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

_HEADING = re.compile(r"^## ([a-z-]+): (.+)$", re.MULTILINE)
_REFERENCES = "See also: "


@dataclass(frozen=True)
class Document:
    """A chapter, paragraph by paragraph, with the ids of those it refers to."""

    id: str
    title: str
    see_also: tuple[str, ...]
    paragraphs: tuple[str, ...]


@cache
def all_documents() -> dict[str, Document]:
    """Return every document by its id, in the handbook's order. Read once, at first use."""
    text = (files(__package__) / "handbook.md").read_text(encoding="utf-8")
    return {document.id: document for document in parse_handbook(text)}


def parse_handbook(text: str) -> list[Document]:
    """Parse `## id: Title`, `See also: id, id`, then paragraphs. Raises ValueError for an unknown reference."""
    _, *parts = _HEADING.split(text)
    documents = []
    for id, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        references, *paragraphs = (" ".join(block.split()) for block in body.strip().split("\n\n"))
        see_also = tuple(references.removeprefix(_REFERENCES).split(", "))
        documents.append(Document(id, title.strip(), see_also, tuple(paragraphs)))
    known = {document.id for document in documents}
    for document in documents:
        if missing := set(document.see_also) - known:
            raise ValueError(f"{document.id} refers to {', '.join(sorted(missing))}, which is not there.")
    return documents


def ids_like(id: str) -> list[str]:
    """Return the nearest ids."""
    return get_close_matches(id, all_documents(), n=3, cutoff=0.4)
