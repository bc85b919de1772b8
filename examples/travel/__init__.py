"""A travel service in SQLite, and the workflows that book with it: flights, rooms, payments, and their compensations.

    antiphon workflows validate examples/travel/workflows.yaml --tools examples.travel
    antiphon workflows dry-run book_trip examples/travel/workflows.yaml --cover --tools examples.travel
    ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES=read,write,travel:pay \\
        antiphon ask "Which flight from NYC to LIS on 2030-05-01 is the cheapest?" --tools examples.travel

What to look at:

- `workflows.yaml`: `book_trip` books a flight and a room at once, or neither; `find_cheapest_across_dates` is a foreach
  over days and a query; `book_with_approval` waits for a person; `recommend_trip` lets a model choose, and checks it.
- `create_booking` and most writes: the idempotency key stands in the service's ledger, in the transaction of the
  effect, so that a second run with it is answered from there (`idempotent=True`).
- `process_payment`: a service that knows no keys beforehand, but can be asked what came of one. The fence that
  `reconcile` asks with shuts out any worker that was thought dead. It has a scope of its own, `travel:pay`.
- `failures.py`: TRAVEL_FAILURES makes calls fail on demand, such as `book_hotel:1` or `process_payment:declined`.

TRAVEL_DATABASE names the database file; left out, it is `antiphon-travel.sqlite3` in the machine's temporary folder,
so that all dispatchers of a machine share one service. `service.ledger()` returns every write with its key.
"""

from .tools import (
    add_to_waitlist,
    book_hotel,
    cancel_booking,
    cancel_hotel,
    check_availability,
    confirm_trip,
    create_booking,
    process_payment,
    search_flights,
    search_hotels,
)

__all__ = [
    "add_to_waitlist",
    "book_hotel",
    "cancel_booking",
    "cancel_hotel",
    "check_availability",
    "confirm_trip",
    "create_booking",
    "process_payment",
    "search_flights",
    "search_hotels",
]
