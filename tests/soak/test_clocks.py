"""Clocks that are wrong: in Python, and in Redis."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis

from tests.redis_server import RedisServer, require_redis_server
from tests.soak.clocks import Clocks

SLACK_S = 60.0
SHOW = """
import sys, time
for _ in sys.stdin:
    time.sleep(0.001)
    print(time.time(), time.monotonic(), flush=True)
"""


@pytest.fixture
def clocks(tmp_path: Path) -> Clocks:
    clocks = Clocks(tmp_path)
    if clocks.why_not:
        pytest.skip(clocks.why_not)
    return clocks


def test_a_process_gets_the_given_wall_clock_and_the_true_monotonic_clock(clocks: Clocks) -> None:
    command = [sys.executable, "-c", SHOW]
    environment = clocks.environment("one")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, text=True) as process:
        for ahead_s in (0.0, 5_000.0, -7_000.0, 0.0):
            clocks.set("one", ahead_s)
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("now\n")
            process.stdin.flush()
            wall_s, monotonic_s = map(float, process.stdout.readline().split())
            assert abs(wall_s - time.time() - ahead_s) < SLACK_S
            assert abs(monotonic_s - time.monotonic()) < SLACK_S


def test_redis_has_the_clock_it_is_given(clocks: Clocks) -> None:
    require_redis_server()
    server = RedisServer(environment=clocks.environment("redis"))
    server.start()
    try:
        with redis.Redis.from_url(server.url) as client:
            for ahead_s in (0.0, 5_000.0, -7_000.0):
                clocks.set("redis", ahead_s)
                seconds, _ = client.time()
                assert abs(seconds - time.time() - ahead_s) < SLACK_S
    finally:
        server.stop()
