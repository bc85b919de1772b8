"""Trips: a workflow that books a flight and a hotel or neither, and the tools that it calls.

    antiphon workflows validate examples/trips/workflows.yaml --tools examples.trips

What to look at, in workflows.yaml:

- `book_trip`: a branch on what was found, a foreach over days, a person who is asked, a sub-workflow.
- `book_both`: two writes at once, and what undoes them when one of them fails.
"""

from .tools import book_flight, book_hotel, cancel_flight, cancel_hotel, find_flights, weather_on

__all__ = ["book_flight", "book_hotel", "cancel_flight", "cancel_hotel", "find_flights", "weather_on"]
