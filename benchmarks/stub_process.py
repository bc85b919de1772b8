"""All five components in one process, as `antiphon up --processes 1` runs them, but for the engine's model."""

from antiphon_shared.process.runner import main

from antiphon.one_process import component_builders
from benchmarks.stub_engine import build_stubbed

if __name__ == "__main__":
    main("antiphon", *(component_builders() | {"reasoning_engine": build_stubbed}).values())
