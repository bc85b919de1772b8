"""`antiphon recipes` learns from sessions in Redis and from recordings, and stores the recipes."""

import asyncio
import json
from pathlib import Path

import pytest

from antiphon.recording.files import write_lines
from antiphon.recording.lines import Header, Line
from tests.antiphon.conftest import ROOT, InProcess
from tests.antiphon.recipes.sessions import TRAVEL, a_booking, session_of

QUESTION = "Book a flight from NYC to LIS on 2030-05-01, and a room there for 2 nights."
FILE = """\
domain: recipes
version: "1"
workflows:
  book_trip:
    description: Book a flight from <origin> to <destination> on <day>, and a room there for 2 nights.
    params:
      origin:
        type: str
        required: true
        description: City by three capitals, such as LIS.
        example: NYC
      destination:
        type: str
        required: true
        description: City by three capitals, such as LIS.
        example: LIS
      day:
        type: str
        required: true
        description: Date, such as 2030-05-01.
        example: "2030-05-01"
        format: date
      nights: {type: int, required: true, example: 2}
    graph:
      search_flights:
        call: search_flights
        args: {origin: $origin, destination: $destination, day: $day}
      search_hotels:
        call: search_hotels
        args: {city: $destination, check_in: $day, nights: $nights}
      create_booking:
        depends_on: [search_flights, search_hotels]
        call: create_booking
        args: {flight: $search_flights.0.flight, passenger: Ada Quill}
      process_payment:
        depends_on: [create_booking]
        call: process_payment
        args: {booking: $create_booking.booking, amount_eur: $create_booking.price_eur}
      book_hotel:
        depends_on: [process_payment]
        call: book_hotel
        args:
          hotel: $search_hotels.0.hotel
          check_in: $day
          nights: $nights
          guest: Ada Quill
    output: {process_payment: $process_payment, book_hotel: $book_hotel}
"""
NAME = "create_booking_and_process_payment_and_book_hotel"
TOOLS = ["search_flights", "search_hotels", "create_booking", "process_payment", "book_hotel"]


@pytest.fixture(scope="module")
def booking() -> list[Line]:
    return asyncio.run(session_of(a_booking("NYC", "LIS", "2030-05-01", 2), QUESTION, TRAVEL))


@pytest.fixture
def recording(folder: Path, booking: list[Line]) -> str:
    write_lines(folder / "booking.jsonl", booking)
    return "booking.jsonl"


def id_of(lines: list[Line]) -> str:
    assert isinstance(lines[0], Header)
    return lines[0].session_id


def test_a_recording_is_learned_without_redis(run: InProcess, recording: str, folder: Path) -> None:
    done = run("recipes", "learn", recording, "--dry-run", "--name", "book_trip", "-o", "trip.yaml")
    assert (done.exit_code, done.stdout) == (0, FILE)
    assert (folder / "trip.yaml").read_text() == FILE
    assert done.stderr.splitlines() == [
        'create_booking: passenger is always "Ada Quill".',
        'book_hotel: guest is always "Ada Quill".',
        "A call of search_hotels was omitted: its result was not used.",
        "book_trip was not stored: this was a dry run.",
    ]
    checked = run("workflows", "validate", "trip.yaml", "--tools", "examples.travel")
    assert (checked.exit_code, checked.stdout) == (0, "")


def test_a_session_in_redis_is_learned_kept_shown_and_forgotten(
    run: InProcess, recording: str, booking: list[Line], empty: dict[str, str]
) -> None:
    assert run("recording", "import", recording, **empty).exit_code == 0
    done = run("recipes", "learn", id_of(booking), "--name", "book_trip", **empty)
    assert (done.exit_code, done.stdout) == (0, FILE)
    listed = run.json("recipes", "list", **empty)
    assert [(one["name"], one["tools"]) for one in listed] == [("book_trip", TOOLS)]
    assert listed[0]["learned_from"] == [id_of(booking)]
    assert "book_trip" in run("recipes", "list", **empty).stdout
    shown = run("recipes", "show", "book_trip", **empty)
    assert shown.stdout == FILE
    assert "Learned from 1 session" in shown.stderr
    forgotten = run("recipes", "forget", "book_trip", **empty)
    assert (forgotten.exit_code, forgotten.stdout) == (0, "Forgotten: book_trip.\n")
    assert run.json("recipes", "list", **empty) == []


def test_a_recipe_shows_which_of_its_tools_have_changed(
    run: InProcess, recording: str, empty: dict[str, str]
) -> None:
    run("recipes", "learn", recording, **empty)
    assert "no dispatcher has published" in run("recipes", "show", NAME, **empty).stderr
    asyncio.run(_publish_one_tool(empty))
    shown = run.json("recipes", "show", NAME, **empty)
    assert shown["changed_tools"] == TOOLS
    shown_in_words = run("recipes", "show", NAME, **empty).stderr
    assert "no: search_flights, search_hotels, create_booking, process_payment, book_hotel" in shown_in_words


async def _publish_one_tool(empty: dict[str, str]) -> None:
    from antiphon_shared.bus.connection import Connections
    from antiphon_shared.bus.keys import Keys
    from antiphon_shared.bus.redis_bus import Bus
    from antiphon_shared.process.settings import BusSettings
    from antiphon_shared.tools.calls import Catalogue

    from tests.antiphon.recipes.chains import a_tool

    connections = Connections(empty["ANTIPHON_REDIS_URL"])
    bus = Bus(connections, Keys(empty["ANTIPHON_NAMESPACE"]), BusSettings())
    await bus.open()
    await bus.publish_catalogue(Catalogue(tools=(a_tool("create_booking", "write"),)))
    await bus.close()


def test_a_recipe_with_the_same_name_is_replaced_only_on_request(
    run: InProcess, recording: str, folder: Path, empty: dict[str, str]
) -> None:
    other = asyncio.run(session_of(a_booking("OSL", "ROM", "2031-06-02", 3), "Book the usual.", TRAVEL))
    write_lines(folder / "other.jsonl", other)
    assert run("recipes", "learn", recording, "--name", "trip", **empty).exit_code == 0
    assert "another recipe is named trip" in run.refused(
        "recipes", "learn", "other.jsonl", "--name", "trip", **empty
    )
    assert run("recipes", "learn", "other.jsonl", "--name", "trip", "--replace", **empty).exit_code == 0
    both = run("recipes", "learn", recording, "other.jsonl", "--name", "both", "--json", **empty)
    params = json.loads(both.stdout)["file"]["workflows"]["both"]["params"]
    assert [*params] == ["origin", "destination", "day", "nights"]


def test_the_oldest_recipe_is_removed_at_the_configured_limit(
    run: InProcess, recording: str, empty: dict[str, str]
) -> None:
    empty = {**empty, "ANTIPHON_RECIPES_KEPT": "1"}
    run("recipes", "learn", recording, "--name", "one", **empty)
    done = run("recipes", "learn", recording, "--name", "two", **empty)
    assert "one was removed" in done.stderr
    assert [one["name"] for one in run.json("recipes", "list", **empty)] == ["two"]


def test_recent_sessions_that_made_the_same_calls_become_one_recipe_once(
    run: InProcess, recording: str, booking: list[Line], folder: Path, empty: dict[str, str]
) -> None:
    other = asyncio.run(session_of(a_booking("LIS", "ROM", "2031-06-02", 3), "Book the usual.", TRAVEL))
    write_lines(folder / "other.jsonl", other)
    for one in (recording, "other.jsonl", str(ROOT / "tests/recordings/a_single_round.jsonl")):
        assert run("recording", "import", one, **empty).exit_code == 0
    dry = run("recipes", "learn", "--recent", "10", "--dry-run", **empty)
    assert (dry.exit_code, NAME in dry.stdout) == (0, True)
    assert run.json("recipes", "list", **empty) == []
    learned = run.json("recipes", "learn", "--recent", "10", **empty)
    (recipe,) = learned["recipes"]
    assert (recipe["name"], recipe["is_kept"]) == (NAME, True)
    assert {*recipe["learned_from"]} == {id_of(booking), id_of(other)}
    again = run("recipes", "learn", "--recent", "10", "--json", **empty)
    assert (again.exit_code, json.loads(again.stdout)) == (1, {"recipes": [], "refused": []})


def test_a_recent_recipe_takes_no_name_away(
    run: InProcess, recording: str, folder: Path, empty: dict[str, str]
) -> None:
    other = asyncio.run(session_of(a_booking("LIS", "ROM", "2031-06-02", 3), "Book the usual.", TRAVEL))
    write_lines(folder / "other.jsonl", other)
    assert run("recipes", "learn", recording, **empty).exit_code == 0
    assert run("recording", "import", "other.jsonl", **empty).exit_code == 0
    kept = run("recipes", "show", NAME, **empty).stdout
    refused = run("recipes", "learn", "--recent", "10", **empty)
    assert (refused.exit_code, "another recipe is named" in refused.stderr) == (0, True)
    assert run("recipes", "show", NAME, **empty).stdout == kept
    assert run("recipes", "learn", "--recent", "10", "--replace", **empty).exit_code == 0
    assert run("recipes", "show", NAME, **empty).stdout != kept


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("learn", "missing.jsonl", "--dry-run"), 2, "missing.jsonl"),
        (("learn", "booking.jsonl", "--name", "1st", "--dry-run"), 2, "'1st' is not a valid name"),
        (("learn", "booking.jsonl", "--dry-run", "-o", "no/where.yaml"), 2, "cannot be written"),
        (("learn",), 2, "no sessions were named"),
        (("learn", "--recent", "5"), 1, ""),
        (("learn", "--recent", "5", "booking.jsonl"), 2, "--recent cannot be combined with sessions"),
        (("learn", "--recent", "5", "--name", "x"), 2, "--recent cannot be combined with sessions"),
        (("learn", "no-such-session"), 2, "session no-such-session does not exist"),
        (("learn", "no session"), 2, "is not a valid id"),
        (("show", "nothing"), 2, "recipe 'nothing'"),
        (("forget", "nothing"), 2, "recipe 'nothing'"),
    ],
)
def test_an_invalid_command_exits_with_its_code_and_reason(
    words: tuple[str, ...], code: int, why: str, run: InProcess, recording: str, empty: dict[str, str]
) -> None:
    refused = run("recipes", *words, **empty)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert why in refused.stderr


def test_a_session_that_did_not_succeed_is_not_a_recipe(run: InProcess, folder: Path) -> None:
    partial = ROOT / "tests/recordings/a_single_round.jsonl"
    refused = run("recipes", "learn", str(partial), "--dry-run")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "ended as partial" in refused.stderr
