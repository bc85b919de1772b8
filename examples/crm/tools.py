"""The four tools of the register."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import Field

from antiphon import NO_EFFECT, BatchVariant, TookEffect, ToolContext, ToolFailed, tool

from . import register
from .contacts import (
    Company,
    Contact,
    Created,
    CreatedContacts,
    CustomerId,
    Email,
    NewContact,
    Phone,
    Tally,
)

BATCH_MAX = 50


@tool(
    effect="read",
    mode="parallel-safe",
    cache_ttl_s=5,  # short: a contact may be shown without an update for that long
    example={"query": "Tamarack Tea"},
)
def customer_lookup(
    query: Annotated[
        str,
        Field(min_length=2, max_length=100, description="E-mail address, or part of a name or company."),
    ],
    limit: Annotated[int, Field(ge=1, le=50, description="Customers at most.")] = 10,
) -> list[Contact]:
    """Look customers up by e-mail address, or by part of their name or company. Upper and lower case are alike."""
    with _reported_errors():
        if found := register.find(query, limit):
            return found
        alike = ", ".join(f'"{name}"' for name in register.nearest(query))
    raise ToolFailed(
        "not_found",
        f"No customer's name, company or e-mail address holds {query!r}.",
        f"Call again with one of these if it is meant: {alike}."
        if alike
        else "Try a shorter part of the name.",
    )


@tool(
    effect="write",
    mode="sequential-only",
    idempotent=True,
    batch=BatchVariant(tool="create_contacts", argument="contacts", items_max=BATCH_MAX),
    timeout_s=10,
)
def create_contact(contact: NewContact, context: ToolContext) -> Contact:
    """Put one person into the customer register. An e-mail address can be there only once."""
    with _reported_errors():
        (created,) = register.create([contact], context.idempotency_key)
    return created


@tool(
    effect="write",
    mode="sequential-only",
    error_propagation="fail-fast",
    idempotent=True,
    timeout_s=20,
    example={"contacts": [NewContact.__example__, {"name": "Omar Reyes", "email": "omar@reyes.example"}]},
)
def create_contacts(
    contacts: Annotated[list[NewContact], Field(min_length=1, max_length=BATCH_MAX)], context: ToolContext
) -> CreatedContacts:
    """Put several people into the customer register, all of them or none."""
    with _reported_errors(lambda index: f"contacts[{index}], {contacts[index].name}: "):
        created = register.create(contacts, context.idempotency_key)
    results = [Created(index=index, data=contact) for index, contact in enumerate(created)]
    return CreatedContacts(results=results, summary=Tally(ok=len(results)))


def _update_outcome(key: str, arguments: dict[str, Any]) -> Any:
    """Return whether the `update_contact` call with that key took effect.

    A call that is not noted did not, and is safe to repeat: if its worker is still alive, both ask for the
    same version, and one of them is refused.
    """
    if done := register.effect_of(key):
        return TookEffect(done[0])
    return NO_EFFECT


@tool(
    effect="write",
    mode="sequential-only",
    # Not idempotent: run again after it took effect, it would find a newer version and report a failure.
    reconcile=_update_outcome,
    timeout_s=10,
    example={"customer": "C-1001", "version": 1, "phone": "+14155550199"},
)
def update_contact(
    customer: CustomerId,
    version: Annotated[
        int, Field(ge=1, le=1_000_000_000, description="The version that customer_lookup has shown.")
    ],
    context: ToolContext,
    email: Email | None = None,
    phone: Phone | None = None,
    company: Company | None = None,
) -> Contact:
    """Change a customer's e-mail address, phone number or company. What is left out stays as it is."""
    given = {"email": email, "phone": phone, "company": company}
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise ToolFailed(
            "validation_error",
            "There is nothing to change.",
            "Give at least one of email, phone and company.",
        )
    with _reported_errors():
        changed = register.update(customer, version, changes, context.idempotency_key)
    if changed is None:
        raise ToolFailed(
            "not_found", f"There is no customer {customer}.", "Look the customer up with customer_lookup."
        )
    return changed


@contextmanager
def _reported_errors(of: Callable[[int], str] = lambda index: "") -> Iterator[None]:
    """Translate errors of the register for the model. In each case nothing was written."""
    try:
        yield
    except register.Taken as taken:
        raise ToolFailed(
            "validation_error",
            f"{of(taken.index)}{taken}. Nothing was written.",
            "An address stands in the register once: use update_contact for whoever has it, or leave this one out.",
        ) from None
    except register.Changed as changed:
        now = changed.contact.model_dump_json(exclude_none=True)
        raise ToolFailed(
            "validation_error",
            f"{changed}, so it has been changed since. Nothing was written. It is now: {now}",
            "If the change is still wanted, call again with that version.",
        ) from None
    except sqlite3.Error as error:
        raise ToolFailed(
            "api_failure", f"The customer register cannot be used: {error}. Nothing was written."
        ) from None
