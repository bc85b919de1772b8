"""The handbook of a lighthouse: reads that build on each other.

    antiphon ask "How long does the fog signal's compressor need from a cold start?" --tools examples.documents

What to look at:

- `list_documents`: offered in the first round only (`rounds`), when an overview is of use.
- `search_documents`: offered always (`pinned`), and says what usually comes after it (`next`).
- `fetch_document`: dependent on a search that found something with an `id`; a call that came without is not
  run, and the model is told to search first. The log of a storm is longer than `result_bytes_max`: it is shown
  in part, with a handle to read on by.
- `rerank`: sequential-only, because it computes in this very process and two at once would only slow each other.

There is nothing to set up: the handbook lies beside the code.
"""

from .tools import fetch_document, list_documents, rerank, search_documents

__all__ = ["fetch_document", "list_documents", "rerank", "search_documents"]
