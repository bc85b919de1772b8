"""Several processes share one register, and one that is killed leaves nothing half done."""

import contextlib
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier

import pytest

from examples import sqlite_file
from examples.crm import create_contact, customer_lookup
from examples.crm.contacts import NewContact
from examples.crm.database import CRM, CrmSettings, insert
from tests.examples.processes import first_line, running
from tests.tool_dispatcher.builders import a_context
from tool_dispatcher.authoring.tool import ToolFailed

ADA = NewContact(name="Ada Quill", email="ada@quill.example")

CREATE = """
from examples.crm import register
from examples.crm.contacts import NewContact
(contact,) = register.create([NewContact(name="Ada Quill", email="ada@quill.example")], "k1")
print(contact.model_dump_json())
"""
STOP_BEFORE_COMMIT = """
import time
from examples.crm.contacts import NewContact
from examples.crm.database import CRM, insert
with CRM.writing() as connection:
    insert(connection, NewContact(name="Ada Quill", email="ada@quill.example"))
    print("inserted", flush=True)
    time.sleep(600)
"""


def test_processes_that_begin_together_make_one_register_and_one_contact() -> None:
    with ExitStack() as stack:
        processes = [stack.enter_context(running("-c", CREATE)) for _ in range(4)]
        document = [json.loads(first_line(process)) for process in processes]
    assert document == [document[0]] * 4
    assert [contact.customer for contact in customer_lookup("quill")] == [document[0]["customer"]]
    assert len(customer_lookup("example", limit=50)) == 9


def test_two_concurrent_creators_make_one_database(monkeypatch: pytest.MonkeyPatch) -> None:
    is_made, both = sqlite_file.is_made, Barrier(2)

    def is_missing_for_both(connection: sqlite3.Connection) -> bool:
        found = is_made(connection)
        if not connection.in_transaction:
            both.wait(timeout=60)
        return found

    monkeypatch.setattr(sqlite_file, "is_made", is_missing_for_both)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(customer_lookup, ["halloran", "halloran"]))
    assert [len(customers) for customers in found] == [1, 1]


def test_a_process_killed_before_its_commit_changes_nothing_and_does_not_block_the_next() -> None:
    with running("-c", STOP_BEFORE_COMMIT) as process:
        assert first_line(process) == "inserted"
        process.kill()
        process.wait(timeout=30)
    with pytest.raises(ToolFailed):
        customer_lookup("quill")
    assert create_contact(ADA, a_context()).name == "Ada Quill"


def test_a_failed_transaction_is_rolled_back() -> None:
    with contextlib.suppress(ZeroDivisionError), CRM.writing() as connection:
        insert(connection, ADA)
        1 / 0  # noqa: B018  # what fails
    with pytest.raises(ToolFailed):
        customer_lookup("quill")


def test_the_register_of_a_machine_lies_in_its_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRM_DATABASE", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert CrmSettings().database == tmp_path / "antiphon-crm.sqlite3"
