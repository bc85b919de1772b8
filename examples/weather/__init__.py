"""Weather from a service over HTTP, which may fail, limit or stall, and tools that cope with it.

    python -m examples.weather.service --port 8765 &
    antiphon ask "What is the weather in Saltmarsh and in Highmoor?" --tools examples.weather

What to look at:

- `current_weather`: at most ten calls at once over all dispatchers (`max_concurrency`), so many a second
  (`rate_limit`), three attempts with growing pauses, and `climate_average` in its place when it keeps failing:
  its `city` is the other's `place`. What it returns comes from outside: `open_world`.
- `forecast`: the same service, kept for ten minutes (`cache_ttl_s`).
- `climate_average`: from a table beside the code, which always answers, and always the same: `deterministic`.
- Ten cities in one question are ten calls at once. Two that time out leave the eight others as they are.

WEATHER_URL is the service's address, `http://127.0.0.1:8765` when left out. Without a service the averages answer.
The service can be set to fail, to show the behaviour of the tools:

    curl -d '{"mode": "limit", "retry_after_s": 2, "count": 3}' http://127.0.0.1:8765/control

for the next three requests; the modes are `ok`, `fail`, `limit` and `stall`. `GET /ledger` counts what came.
"""

from .tools import climate_average, current_weather, forecast

__all__ = ["climate_average", "current_weather", "forecast"]
