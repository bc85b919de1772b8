"""`import antiphon` is light, and every public name is there when it is asked for."""

import subprocess
import sys

import antiphon


def test_every_public_name_is_found_and_listed() -> None:
    for name in antiphon.__all__:
        assert getattr(antiphon, name) is not None
    assert set(antiphon.__all__) <= set(dir(antiphon))
    assert set(antiphon._MODULES) == set(antiphon.__all__)


def test_an_unknown_name_raises_attribute_error() -> None:
    assert not hasattr(antiphon, "Antiphony")


def test_importing_antiphon_alone_loads_no_library() -> None:
    loaded = "import sys, antiphon; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert not {"pydantic", "redis", "anthropic", "structlog", "rich"}.intersection(done.stdout.split())
