"""Every command of the tutorials, run in order in an empty folder, with the built wheel in its own environment."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT, environment
from tests.docs.pages import as_script, blocks_of, missing_output, outputs
from tests.redis_server import free_port, require_redis_server

DOCS = ROOT / "docs"
COMMANDS = ROOT / "tests/docs/command"
LIMIT_S = 900.0


@pytest.fixture
def linking_python(tmp_path: Path) -> Path:
    """Return a folder with a `python3` whose new environments see our dependencies and pip, but not this checkout.

    So nothing is downloaded, and pip is not installed each time; `test_wheel.py` installs once for real.
    By the name of their folder, hypothesis knows that they are no modules of the user's, and does not parse them.
    """
    socket = tmp_path / "socket"
    linked, program = tmp_path / "linked" / "site-packages", tmp_path / "bin" / "python3"
    linked.mkdir(parents=True)
    program.parent.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "antiphon" not in entry.name.lower() and not entry.name.startswith("setuptools"):
            (linked / entry.name).symlink_to(entry)
    program.write_text(f"""#!/bin/sh -e
[ "$1 $2" = "-m venv" ] || exec "{sys.executable}" "$@"
"{sys.executable}" -m venv --without-pip "$3"
echo "{linked}" > "$("$3/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/linked.pth"
cat > "$3/bin/pip" <<'END'
#!/bin/sh -e
"$(dirname "$0")/python" -m pip "$@"
"$(dirname "$0")/python" "{COMMANDS}_server.py" "{socket}"
END
chmod +x "$3/bin/pip"
""")
    program.chmod(0o755)
    return program.parent


@pytest.fixture
def quickly(tmp_path: Path) -> str:
    """Return definitions for a shell: all commands but the first, and those of other terminals, run off a server.

    It starts once the packages are installed; see `command_server.py`.
    """
    client = f'"{sys.executable}" -I -S "{COMMANDS}_client.py" "{tmp_path / "socket"}"'
    return f"""antiphon() {{
  antiphon() {{ {client} antiphon "$@"; }}
  command antiphon "$@"
}}
python() {{
  if [ "$1" = -c ]; then command python "$@"; else {client} python "$@"; fi
}}
"""


@pytest.mark.timeout(LIMIT_S + 60)
@pytest.mark.parametrize(
    ("page", "blocks_min"), [("tutorial.md", 19), ("structured-answers.md", 20), ("workflows.md", 20)]
)
def test_every_command_of_a_tutorial_prints_the_output_of_the_page(
    page: str, blocks_min: int, folder: Path, wheel: Path, linking_python: Path, quickly: str
) -> None:
    require_redis_server()
    if shutil.which("redis-cli") is None:
        pytest.skip("redis-cli is not on PATH")
    blocks = blocks_of(DOCS / page)
    path = f"{linking_python}:{os.environ['PATH']}"
    process = subprocess.Popen(
        ["bash", "-c", quickly + as_script(blocks).replace("6379", str(free_port()))],
        cwd=folder,
        # Pip need not look for conflicts among all that is linked; "0", as it negates this option twice.
        env=environment(folder, PATH=path, ANTIPHON=str(wheel), PIP_NO_INDEX="1", PIP_NO_WARN_CONFLICTS="0"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        shown, _ = process.communicate(timeout=LIMIT_S)
    finally:
        _end(process.pid)
        process.wait()
    logs = "".join(f"\n--- {log.name}\n{log.read_text()}" for log in folder.rglob("terminal=*.log"))
    assert process.returncode == 0, shown + logs
    assert len(outputs(shown)) == len(blocks) >= blocks_min
    assert missing_output(blocks, outputs(shown)) == [], shown + logs


def _end(group: int) -> None:
    """Stop the other terminals by SIGTERM: the pipeline ends its own children."""
    deadline = time.monotonic() + 60
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < deadline:
            os.killpg(group, 0)
            time.sleep(0.05)
        os.killpg(group, signal.SIGKILL)
