"""`python -m tests.antiphon.recording.golden`: records the session of today's format again.

Only while that format has not been released: released recordings must stay readable forever, as they were written.
"""

import asyncio
from pathlib import Path

from antiphon.recording.files import write_lines
from antiphon.recording.lines import FORMAT
from tests.antiphon.recording.recorded import recorded

if __name__ == "__main__":
    write_lines(Path(__file__).parent / f"format_{FORMAT}.jsonl", asyncio.run(recorded()))
