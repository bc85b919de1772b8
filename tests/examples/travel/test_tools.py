"""The tools of the example workflow, and the file that calls them."""

from datetime import date
from pathlib import Path
from typing import Any

import examples.travel
from antiphon import workflows
from examples.travel import find_flights, weather_on

FILE = Path(examples.travel.__file__).with_name("workflows.yaml")
MAY = date(2030, 5, 1)


def called(tool: Any, **arguments: Any) -> Any:
    return tool.function(**arguments)


def test_the_cheapest_flight_comes_first_and_where_none_goes_there_is_none() -> None:
    found = called(find_flights, origin="NYC", destination="LIS", date=MAY)["found"]
    assert [one["price"] for one in found] == [180, 240]
    assert called(find_flights, origin="NYC", destination="NYC", date=MAY) == {"found": []}


def test_the_weather_is_that_of_the_day() -> None:
    assert called(weather_on, place="LIS", date=MAY) == {"place": "LIS", "date": "2030-05-01", "degrees": 20}


def test_the_file_holds_against_the_tools() -> None:
    assert workflows.validate(FILE, tools=["examples.travel"]) == ()
