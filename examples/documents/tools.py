"""The four tools of the handbook."""

from typing import Annotated

from pydantic import BaseModel, Field

from antiphon import Dependency, ToolFailed, tool

from .handbook import Document, all_documents, ids_like
from .scoring import best_paragraph, ranked

EXCERPT_CHARACTERS_MAX = 300

Query = Annotated[str, Field(min_length=1, max_length=500, description="What is looked for, in words.")]
DocumentId = Annotated[
    str, Field(min_length=1, max_length=60, description="Id of a document, as search_documents returned it.")
]


class Listed(BaseModel):
    id: str
    title: str


class Found(Listed):
    """A document with the passage that fits a query best."""

    excerpt: str
    score: float = Field(description="Higher is better; comparable within one result only.")


class Fetched(Listed):
    """A whole document."""

    see_also: str = Field(description="Ids of the documents it refers to.")
    paragraphs: list[str]


@tool(effect="read", rounds=[1], cache_ttl_s=3_600, next="search_documents")
def list_documents() -> list[Listed]:
    """The ids and titles of all documents of the lighthouse handbook."""
    return [Listed(id=document.id, title=document.title) for document in all_documents().values()]


@tool(
    effect="read",
    pinned=True,
    next=["fetch_document", "rerank"],
    example={"query": "what to do when the lamp fails", "limit": 5},
)
def search_documents(
    query: Query, limit: Annotated[int, Field(ge=1, le=20, description="Documents at most.")] = 5
) -> list[Found]:
    """Search the lighthouse handbook; the documents that fit best, each with a passage. Empty when none does."""
    scored = ranked(query, all_documents())[:limit]
    return [_found(document, best_paragraph(query, document)[1], score) for score, document in scored]


@tool(
    effect="read",
    mode="dependent",
    depends_on=[Dependency(tool="search_documents", required_fields=("id",))],
    result_bytes_max=2_000,
    example={"id": "lamp-care"},
)
def fetch_document(id: DocumentId) -> Fetched:
    """A whole document of the lighthouse handbook, and the ids of those it refers to."""
    document = _document(id)
    return Fetched(
        id=document.id,
        title=document.title,
        see_also=", ".join(document.see_also),
        paragraphs=list(document.paragraphs),
    )


@tool(
    effect="read",
    mode="sequential-only",
    next=["fetch_document"],
    example={"query": "how long does the battery hold", "ids": ["radio", "power", "generator-notes"]},
)
def rerank(
    query: Query,
    ids: Annotated[list[DocumentId], Field(min_length=1, max_length=20, description="What to put in order.")],
) -> list[Found]:
    """Put documents that a search has found into a better order, by reading each of them paragraph by paragraph."""
    scored = [(best_paragraph(query, document), document) for document in map(_document, dict.fromkeys(ids))]
    scored.sort(key=lambda one: -one[0][0])
    return [_found(document, paragraph, score) for (score, paragraph), document in scored]


def _found(document: Document, paragraph: str, score: float) -> Found:
    whole = len(paragraph) <= EXCERPT_CHARACTERS_MAX
    excerpt = paragraph if whole else f"{paragraph[: EXCERPT_CHARACTERS_MAX - 1]}…"
    return Found(id=document.id, title=document.title, excerpt=excerpt, score=score)


def _document(id: str) -> Document:
    if (document := all_documents().get(id)) is not None:
        return document
    nearest = ", ".join(f'"{one}"' for one in ids_like(id))
    raise ToolFailed(
        "not_found",
        f"There is no document {id!r}.",
        f"Call again with one of these if it is meant: {nearest}."
        if nearest
        else "Look it up with search_documents, and use the id it returns.",
    )
