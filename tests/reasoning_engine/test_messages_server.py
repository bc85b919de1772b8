"""The scripted server as a process of its own."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.reasoning_engine.builders import ask_at


def test_the_server_runs_standalone_and_reports_its_requests(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"when": "Round 9", "text": "Later."}, {"text": "Yes.", "repeat": True}]))
    command = [sys.executable, "-m", "tests.messages_server", "--port", "0", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = f"http://127.0.0.1:{int(process.stdout.readline())}"
            replies = [asyncio.run(ask_at(url, [])).completed.text for _ in range(2)]
            with urllib.request.urlopen(f"{url}/requests", timeout=60) as response:
                received = json.load(response)
        finally:
            process.kill()
    assert replies == ["Yes.", "Yes."]
    assert [request["path"] for request in received] == ["/v1/messages", "/v1/messages"]
