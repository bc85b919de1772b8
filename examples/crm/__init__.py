"""A customer register in SQLite: writes that happen once, even if a process dies in between.

    antiphon ask "Which customers work at Tamarack Tea?" --tools examples.crm

Writes need the operator's permission first, as a session without a grant may only read:

    ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES=read,write \\
        antiphon ask "Add Ada Quill, ada@quill.example, to the register" --tools examples.crm

What to look at:

- `customer_lookup`: a read, parallel-safe, with results kept for a few seconds.
- `create_contact`: a write that stores its idempotency key with the contact, in one transaction. A second run
  with the same key finds the first one's result, so the contract says `idempotent=True`.
- `create_contacts`: the batch variant of it: all or none, and a result per contact.
- `update_contact`: a write that must not simply run again, and says so by what it has instead: `reconcile`,
  which is asked what came of a key when a worker died.

CRM_DATABASE names the database file; left out, it is `antiphon-crm.sqlite3` in the machine's temporary folder,
so that all dispatchers of a machine share one register. It is made, with a few customers in it, at first use.
"""

from .tools import create_contact, create_contacts, customer_lookup, update_contact

__all__ = ["create_contact", "create_contacts", "customer_lookup", "update_contact"]
