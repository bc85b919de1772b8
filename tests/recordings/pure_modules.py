"""The modules that decide: `replay verify` runs them again, so the recordings must cover them.

They are all modules of each package except the named shells, so a new file is covered without being listed.
"""

from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

PACKAGES = (
    "coordinator",
    "context_synthesizer",
    "reasoning_engine",
    "response_assembler",
    "tool_dispatcher/batch",
    "shared/antiphon_shared/breakers",
    "shared/antiphon_shared/memory",
    "shared/antiphon_shared/text",
    "shared/antiphon_shared/tools",
)
_SHELL = ("__init__", "__main__", "component", "handlers", "settings")
_NOT_REDONE = {
    "coordinator/before_opening": "makes a query and a cancellation wait; what is decided after the wait is recorded",
    "coordinator/current_catalogue": "asks whether a dispatcher is running; the catalogue that it found is recorded",
    "coordinator/grants": "asks a key whether a grant is genuine; what it found is recorded",
    "coordinator/lookup": "reads the log; the event that it found is recorded",
    "coordinator/outcomes": "turns a decision into its commit; the decision is recorded",
    "coordinator/published": "reads files; the steps in them stand in the recorded query",
    "coordinator/workflow_files": "reads files; runs name what they found by its hash",
    "coordinator/runs/complete_results": "reads results that are stored outside the log",
    "coordinator/runs/memory": "keeps runs in a process",
    "coordinator/runs/reverting": "takes back what a process has decided ahead; what was committed is recorded",
    "coordinator/session_cache": "reads and keeps conversations",
    "coordinator/without_state": "reads the log and the answer for the handlers",
    "context_synthesizer/embeddings": "asks an embedder; its weights are recorded",
    "context_synthesizer/vectors": "compares what an embedder made; how close that comes is recorded",
    "context_synthesizer/minilm": "runs an embedder",
    "reasoning_engine/response_limit": "counts what a server sends",
    "reasoning_engine/reply_size": "likewise",
    "reasoning_engine/access": "reads the environment",
    "reasoning_engine/chat": "asks models by another wire format; what is recorded is the same for both",
    "reasoning_engine/choice": "calls models",
    "reasoning_engine/deltas": "sends text to observers",
    "reasoning_engine/call_guard": "waits for limits and breakers",
    "reasoning_engine/engine": "waits for the model",
    "reasoning_engine/exchange": "calls the model",
    "reasoning_engine/reply_progress": "reports the progress of a reply as it comes in",
    "reasoning_engine/port": "says what a model is asked",
    "reasoning_engine/limits": "keeps within a server's limits",
    "reasoning_engine/model": "calls the model",
    "reasoning_engine/model_errors": "reads what the SDK raises; the failure is recorded",
    "reasoning_engine/offline": "is a model; its replies are recorded",
    "reasoning_engine/offline_model": "likewise",
    "reasoning_engine/exchange_differences": "stores records; they are read whole",
    "reasoning_engine/refused_schemas": "remembers what a server refused; how an answer was asked for is recorded",
    "shared/antiphon_shared/breakers/breaker": "decides when a breaker opens; what was open is recorded",
    "shared/antiphon_shared/breakers/table": "likewise",
    "shared/antiphon_shared/memory/reading": "reads what is filed from Redis",
    "shared/antiphon_shared/text/control": "for terminals",
    "shared/antiphon_shared/text/native_search": "for redaction, which recordings have behind them",
    "shared/antiphon_shared/redaction": "likewise",
    "shared/antiphon_shared/text/nearest": "for names of settings and options",
    "shared/antiphon_shared/text/word_vectors": "is a table that each process reads once",
    "shared/antiphon_shared/text/yaml_text": "for files of steps",
    "shared/antiphon_shared/tools/grant_keys": "reads keys",
    "shared/antiphon_shared/tools/grant_verifier": "verifies signatures",
    "shared/antiphon_shared/tools/hints": "writes descriptions of tools; the catalogue that holds them is recorded",
    "shared/antiphon_shared/tools/journal": "reads and writes the journal",
}
"""Other modules and packages that no replay runs, with the reason."""


@cache
def pure_modules() -> dict[str, Path]:
    """Return the files of the pure modules by their names here, such as `coordinator/decide`."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = str(path.relative_to(ROOT).with_suffix(""))
            if path.stem not in _SHELL and not _is_not_redone(name):
                found[name] = path
    return found


def _is_not_redone(name: str) -> bool:
    return any(name == other or name.startswith(f"{other}/") for other in _NOT_REDONE)
