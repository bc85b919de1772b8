"""`python -m context_synthesizer`: run one context synthesizer until it receives SIGTERM or SIGINT."""

import gc

from antiphon_shared.process.import_path import current_directory_last, hidden

if __name__ == "__main__":
    # Before the other imports: a redis.py in the user's directory must not shadow ours.
    current_directory_last()
    gc.disable()  # imported modules are never garbage; the runner enables collection afterwards
    with hidden("rich"):  # importing it takes a tenth of the start, and serves only coloured tracebacks
        import structlog  # noqa: F401  # loaded for the process, not used here
    from antiphon_shared.process.runner import main

    from context_synthesizer.component import build

    main("context_synthesizer", build, description=__doc__)
