"""A weather service whose failures can be set, and which keeps a ledger of its requests.

python -m examples.weather.service --port 0        prints its address on the first line

GET  /current?city=Saltmarsh            {"city", "celsius", "wind_km_h", "sky"}
GET  /forecast?city=Saltmarsh&days=3    {"city", "days": [{"day", "celsius", "sky"}]}
POST /control                           the fields of Control; answers what is now in force
GET  /ledger                            {"requests", "refused", "under_way", "under_way_max"}
"""

import argparse
from threading import Event, Lock
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..local_http import Reply, Request, serve_until_ended
from .places import Place, names_like, place_called

DAYS_MAX = 7
_SKIES = ("clear", "a few clouds", "overcast", "light rain", "showers", "fog")


class Control(BaseModel):
    """How the next requests for weather are met."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["ok", "fail", "limit", "stall"] = "ok"
    cities: tuple[str, ...] = Field(default=(), description="Only those for these; all when left out.")
    count: int | None = Field(default=None, ge=1, description="Of them; all that come when left out.")
    retry_after_s: float = Field(default=1.0, ge=0, le=3_600, description="What a limited one is told.")
    wait_s: float = Field(default=0.0, ge=0, le=60, description="Before each answer.")
    stall_s: float = Field(default=30.0, ge=0, le=600, description="What a stalled one waits.")


class WeatherService:
    """The service; `reply` answers one request, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._changed = Event()  # replaced at each control, which releases waiting requests
        self._control = Control()
        self._left: int | None = None
        self.ledger = {"requests": 0, "refused": 0, "under_way": 0, "under_way_max": 0}

    def reply(self, request: Request) -> Reply:
        match request.method, request.path:
            case "GET", "/current" | "/forecast":
                return self._weather(request)
            case "GET", "/ledger":
                with self._lock:
                    return Reply(200, dict(self.ledger))
            case "POST", "/control":
                return self._controlled(request.body)
        return Reply(404, {"error": f"There is no {request.method} {request.path} here."})

    def control(self, control: Control) -> None:
        """Set the mode from now on, or for the next `count` requests. Stalled requests are answered now."""
        with self._lock:
            self._control, self._left = control, control.count
            self._changed.set()
            self._changed = Event()

    def _controlled(self, body: bytes) -> Reply:
        try:
            control = Control.model_validate_json(body)
        except ValidationError as error:
            return Reply(400, {"error": f"Not the fields of Control: {error.errors()[0]['msg']}."})
        self.control(control)
        return Reply(200, control.model_dump())

    def _weather(self, request: Request) -> Reply:
        control, changed = self._begin(request.query.get("city", ""))
        try:
            changed.wait(control.stall_s if control.mode == "stall" else control.wait_s)
            reply = _answer(request, control)
        finally:
            with self._lock:
                self.ledger["under_way"] -= 1
        with self._lock:
            self.ledger["refused"] += reply.status != 200
        return reply

    def _begin(self, city: str) -> tuple[Control, Event]:
        """Count the request; return its control, and the event that ends its wait."""
        with self._lock:
            self.ledger["requests"] += 1
            self.ledger["under_way"] += 1
            self.ledger["under_way_max"] = max(self.ledger["under_way_max"], self.ledger["under_way"])
            control = self._control
            if control.cities and city not in control.cities:
                return Control(), self._changed
            if self._left is not None:
                self._left -= 1
                if not self._left:
                    self._control, self._left = Control(), None
            return control, self._changed


def _answer(request: Request, control: Control) -> Reply:
    match control.mode:
        case "fail":
            return Reply(503, {"error": "The weather service is out of order."})
        case "limit":
            return Reply(429, {"error": "Too many requests."}, {"retry-after": f"{control.retry_after_s:g}"})
    city = request.query.get("city", "")
    if (place := place_called(city)) is None:
        return Reply(404, {"error": f"There is no weather for {city!r}.", "nearest": names_like(city)})
    if request.path == "/current":
        wind_km_h = 4 + len(place.name) % 5 * 7
        return Reply(200, {"city": place.name, **_weather_on(place, 0), "wind_km_h": wind_km_h})
    days = request.query.get("days", "3")
    if not days.isdecimal() or not 1 <= int(days) <= DAYS_MAX:
        return Reply(400, {"error": f"days is 1 to {DAYS_MAX}."})
    days_weather = [{"day": day, **_weather_on(place, day)} for day in range(1, int(days) + 1)]
    return Reply(200, {"city": place.name, "days": days_weather})


def _weather_on(place: Place, day: int) -> dict[str, Any]:
    """Return fixed weather: some days in May, in a place where it is always May."""
    celsius = round(place.celsius[4] + (day * 7 % 5 - 2) * 0.6, 1)
    return {"celsius": celsius, "sky": _SKIES[(len(place.name) + day) % len(_SKIES)]}


def main() -> None:
    parser = argparse.ArgumentParser(description="A weather service that does as it is told.")
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one")
    serve_until_ended(WeatherService().reply, parser.parse_args().port)


if __name__ == "__main__":
    main()
