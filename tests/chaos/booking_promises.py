"""The agreement between the service's ledger and the end of a run."""

from collections import Counter
from pathlib import Path

from antiphon_shared.events.session import Response, RunOutcome

from tests.chaos.booking_tools import ledger


class Bookings:
    """The effects of one run, as the service has them."""

    def __init__(self, file: Path, run_id: str) -> None:
        with ledger(file) as connection:
            rows = connection.execute(
                "SELECT key, node, tool FROM effects WHERE run = ?", (run_id,)
            ).fetchall()
        self.keys = Counter(key for key, _, _ in rows)
        self.made = Counter(node for _, node, tool in rows if tool != "cancel")
        self.cancelled = Counter(node for _, node, tool in rows if tool == "cancel")


def assert_true(response: Response, bookings: Bookings) -> None:
    """Check that each write took effect at most once, and that the run reports the outcome of each."""
    outcome = response.run
    assert outcome is not None, "the response has no outcome of the run"
    shown = f"\n{outcome}\nmade {dict(bookings.made)}\ncancelled {dict(bookings.cancelled)}"
    assert max(bookings.keys.values(), default=0) <= 1, f"a key took effect twice{shown}"
    assert max((bookings.made | bookings.cancelled).values(), default=0) <= 1, (
        f"a node took effect twice{shown}"
    )
    known = _done(outcome, bookings) | {*outcome.standing, *outcome.undone, *outcome.unknown}
    assert not set(bookings.made) - known, f"a booking that the run does not name{shown}"
    for path in {*_done(outcome, bookings), *outcome.standing, *outcome.undone} - set(outcome.unknown):
        assert bookings.made[path] == 1, f"{path} is reported as done, and is not in the ledger{shown}"
    for path in outcome.undone:
        assert bookings.cancelled[path] == 1, f"{path} is reported as undone, and is not{shown}"
    assert set(bookings.cancelled) <= {*outcome.undone, *outcome.unknown}, (
        f"a cancellation is not named{shown}"
    )
    assert (outcome.status == "needs_review") >= bool(outcome.unknown) or (
        outcome.status == "compensation_failed"
    ), f"an unknown outcome is not reported{shown}"
    if outcome.status == "completed":
        assert not bookings.cancelled, f"the run completed and undid something{shown}"
    if outcome.status == "compensated":
        assert set(bookings.made) == set(bookings.cancelled), f"not all bookings are undone{shown}"


def _done(outcome: RunOutcome, bookings: Bookings) -> set[str]:
    """Return the writes that the run's list of nodes reports as done; a foreach counts for its items."""
    done = {one.path for one in outcome.nodes if one.status == "done"}
    writes = {path for path in done if path in bookings.made}
    return writes | {path for path in bookings.made if path.rpartition("/")[0] in done and "each" in path}
