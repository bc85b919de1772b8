"""Customers are found and changed, and refusals are errors that a model can act on."""

from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.tools.calls import ToolError

from examples.crm import create_contact, create_contacts, customer_lookup, update_contact
from examples.crm.contacts import Contact, NewContact
from tests.tool_dispatcher.builders import a_context
from tool_dispatcher.authoring.reconcile import NO_EFFECT, TookEffect
from tool_dispatcher.authoring.tool import ToolFailed
from tool_dispatcher.authoring.validate import validate


def a_contact(**fields: Any) -> NewContact:
    return NewContact(**{"name": "Ada Quill", "email": "ada@quill.example", **fields})


def keyed(key: str) -> Any:
    return a_context(idempotency_key=key)


def names(query: str) -> list[str]:
    return [contact.name for contact in customer_lookup(query)]


def reconcile(key: str) -> Any:
    assert update_contact.reconcile is not None
    return update_contact.reconcile(key, {})


@pytest.mark.parametrize("query", ["halloran", "TAMARACK", "ines@tamarack-tea.example", "  Ines Halloran "])
def test_a_customer_is_found_by_part_of_name_company_or_address(query: str) -> None:
    assert "Ines Halloran" in names(query)


@pytest.mark.parametrize("query", ["%", "_a_", "' OR 1=1 --", "\x00\x00"])
def test_a_lookup_takes_its_text_literally(query: str) -> None:
    with pytest.raises(ToolFailed) as failed:
        customer_lookup(query)
    assert failed.value.error_type == "not_found"


def test_a_lookup_of_a_misspelt_name_suggests_the_nearest() -> None:
    with pytest.raises(ToolFailed, match="Ines Haloran") as failed:
        customer_lookup("Ines Haloran")
    assert failed.value.suggested_action == 'Call again with one of these if it is meant: "Ines Halloran".'


def test_a_lookup_returns_at_most_the_limit() -> None:
    assert len(customer_lookup("example", limit=3)) == 3


def test_a_new_contact_is_found_afterwards() -> None:
    created = create_contact(a_contact(phone="+4930123456"), keyed("k1"))
    assert created.customer.startswith("C-")
    assert customer_lookup("quill") == [created]


def test_the_same_key_creates_one_contact_and_returns_the_same_result() -> None:
    first = create_contact(a_contact(), keyed("k1"))
    assert create_contact(a_contact(), keyed("k1")) == first
    assert names("quill") == ["Ada Quill"]


def test_the_result_of_a_key_stays_the_same() -> None:
    first = create_contact(a_contact(), keyed("k1"))
    update_contact(first.customer, 1, keyed("k2"), company="Quill and Daughters")
    assert create_contact(a_contact(), keyed("k1")) == first


@pytest.mark.parametrize("email", ["ines@tamarack-tea.example", "INES@Tamarack-Tea.example"])
def test_an_address_that_is_taken_is_refused_with_its_owner(email: str) -> None:
    with pytest.raises(
        ToolFailed, match=r"belongs to C-1001 \(Ines Halloran\) already. Nothing was written"
    ) as failed:
        create_contact(a_contact(email=email), keyed("k1"))
    assert failed.value.error_type == "validation_error"
    assert "update_contact" in (failed.value.suggested_action or "")


def test_a_batch_creates_all_with_a_result_for_each() -> None:
    created = create_contacts([a_contact(), a_contact(name="Omar Reyes", email="o@r.example")], keyed("k1"))
    assert [(one.index, one.status, one.data.name) for one in created.results] == [
        (0, "ok", "Ada Quill"),
        (1, "ok", "Omar Reyes"),
    ]
    assert (created.summary.ok, created.summary.error) == (2, 0)
    assert create_contacts([a_contact()], keyed("k1")) == created


@pytest.mark.parametrize("taken", ["bruno@tamarack-tea.example", "ADA@quill.example"])
def test_a_batch_with_a_refused_contact_creates_none(taken: str) -> None:
    with pytest.raises(
        ToolFailed, match=rf"^contacts\[1\], Omar Reyes: {taken} belongs to .* Nothing was written"
    ):
        create_contacts([a_contact(), a_contact(name="Omar Reyes", email=taken)], keyed("k1"))
    with pytest.raises(ToolFailed):
        customer_lookup("quill")
    assert len(create_contacts([a_contact()], keyed("k1")).results) == 1  # a refused batch has used up no key


def test_an_update_changes_the_given_fields_and_increments_the_version() -> None:
    changed = update_contact("C-1001", 1, keyed("k1"), phone="+14155550199")
    assert (changed.version, changed.phone, changed.email) == (2, "+14155550199", "ines@tamarack-tea.example")
    assert customer_lookup("halloran") == [changed]


def test_an_update_of_an_older_version_is_refused_and_shows_the_current_one() -> None:
    update_contact("C-1001", 1, keyed("k1"), company="Halloran Teas")
    with pytest.raises(
        ToolFailed, match=r"C-1001 is at version 2.*Nothing was written.*Halloran Teas"
    ) as failed:
        update_contact("C-1001", 1, keyed("k2"), phone="+14155550199")
    assert failed.value.suggested_action == "If the change is still wanted, call again with that version."
    assert names("halloran teas") == ["Ines Halloran"]


def test_an_update_to_an_address_that_is_taken_is_refused() -> None:
    with pytest.raises(ToolFailed, match="belongs to C-1002"):
        update_contact("C-1001", 1, keyed("k1"), email="bruno@tamarack-tea.example")
    assert reconcile("k1") is NO_EFFECT


def test_an_update_without_a_contact_or_a_change_is_reported() -> None:
    with pytest.raises(ToolFailed, match="no customer C-9999") as unknown:
        update_contact("C-9999", 1, keyed("k1"), phone="+14155550199")
    assert unknown.value.error_type == "not_found"
    with pytest.raises(ToolFailed, match="nothing to change") as empty:
        update_contact("C-1001", 1, keyed("k1"))
    assert empty.value.error_type == "validation_error"


def test_an_update_is_reconciled_by_its_key() -> None:
    assert reconcile("k1") is NO_EFFECT
    changed = update_contact("C-1001", 1, keyed("k1"), phone="+14155550199")
    assert reconcile("k1") == TookEffect(changed)
    assert reconcile("k2") is NO_EFFECT


def test_only_one_of_a_late_worker_and_its_successor_changes_the_contact() -> None:
    """Both ask for the one version, whichever comes first."""
    assert reconcile("k1") is NO_EFFECT
    update_contact("C-1001", 1, keyed("k1"), phone="+14155550199")
    with pytest.raises(ToolFailed, match="is at version 2"):
        update_contact("C-1001", 1, keyed("k1"), phone="+14155550199")
    assert customer_lookup("halloran")[0].version == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"email": "ada"},
        {"email": "ada@quill"},
        {"email": "ada@quill.example, eve@quill.example"},
        {"email": "ada@quill.example\n"},
        {"email": f"{'a' * 250}@quill.example"},
        {"phone": "030 123456"},
        {"phone": "+49 30 123456"},
        {"phone": "+0123456789"},
        {"phone": 4930123456},
        {"name": ""},
        {"name": " "},
        {"name": "Ada\nQuill"},
        {"name": None},
        {"nickname": "Ada"},
    ],
)
def test_a_contact_that_is_not_right_is_refused_and_the_field_named(wrong: dict[str, Any]) -> None:
    arguments = {**NewContact.__example__, **wrong}
    (field,) = wrong
    refused = validate(create_contact, arguments)
    assert isinstance(refused, ToolError)
    assert list(refused.fields) == [field]
    assert refused.example_valid_call == NewContact.__example__
    in_batch = validate(create_contacts, {"contacts": [NewContact.__example__, arguments]})
    assert isinstance(in_batch, ToolError)
    assert list(in_batch.fields) == [f"contacts[1].{field}"]


def test_the_examples_are_taken() -> None:
    for tool in (create_contact, create_contacts, customer_lookup, update_contact):
        assert tool.example is not None
        assert not isinstance(validate(tool, tool.example), ToolError)


def test_an_unusable_register_is_reported_without_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("this is no database, however long one looks at it" * 100)
    for unusable in (tmp_path, tmp_path / "nowhere" / "crm.sqlite3", tmp_path / "notes.txt"):
        monkeypatch.setenv("CRM_DATABASE", str(unusable))
        with pytest.raises(ToolFailed, match="cannot be used") as failed:
            create_contact(a_contact(), keyed("k1"))
        assert failed.value.error_type == "api_failure"
        assert str(tmp_path) not in failed.value.message


def test_a_shown_contact_has_the_fields_that_a_change_requires() -> None:
    shown = customer_lookup("halloran")[0]
    assert isinstance(shown, Contact)
    update_contact(shown.customer, shown.version, keyed("k1"), company="Halloran Teas")
