"""`antiphon workflows`: files of workflows, their publication, and runs.

files.py       validate, list, show, graph, dry-run, schema
publish.py     publish, withdraw
run.py         run; params.py reads its params, progress.py shows its events, dialogue.py asks the person
runs.py        runs list, show, watch, answer, settle, resume, cancel
"""

from antiphon.cli.on_demand import group_of

_FILES = "antiphon.cli.workflows.files"
_PUBLISH = "antiphon.cli.workflows.publish"
COMMANDS = {
    "validate": f"{_FILES}:validate",
    "list": f"{_FILES}:list_workflows",
    "show": f"{_FILES}:show",
    "graph": f"{_FILES}:graph",
    "dry-run": f"{_FILES}:dry_run",
    "schema": f"{_FILES}:schema",
    "publish": f"{_PUBLISH}:publish",
    "withdraw": f"{_PUBLISH}:withdraw",
    "run": "antiphon.cli.workflows.run:run_workflow",
    "runs": "antiphon.cli.workflows.runs:app",
}

app = group_of(
    COMMANDS,
    "Check, publish and run workflows: files that define the order of tool calls.\n\n"
    "Check a file (validate, dry-run), publish it (publish, or ANTIPHON_WORKFLOWS of the "
    "coordinators), and run a workflow by its name (run). `runs` shows and controls started "
    "runs.",
)
