"""A bus whose leases last: the tests of dispatchers end them by hand."""

import pytest

from shared.settings import BusSettings
from tests.tool_dispatcher.builders import LEASE_S


@pytest.fixture
def bus_settings() -> BusSettings:
    return BusSettings(lease_s=LEASE_S)
