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
    "validate": (f"{_FILES}:validate", "Check workflow files, and report all problems at once."),
    "list": (f"{_FILES}:list_workflows", "List the workflows of files, or the published workflows."),
    "show": (f"{_FILES}:show", "Show a workflow's params, nodes and output."),
    "graph": (f"{_FILES}:graph", "Draw the graph of a workflow, as text by default."),
    "dry-run": (f"{_FILES}:dry_run", "Simulate a run of a workflow, without calling any tool."),
    "schema": (f"{_FILES}:schema", "Print the JSON Schema of workflow files, for editors."),
    "publish": (
        f"{_PUBLISH}:publish",
        "Check workflow files and publish them, so that the running pipeline can run their workflows by name.",
    ),
    "withdraw": (f"{_PUBLISH}:withdraw", "Withdraw the published workflows of a domain."),
    "run": ("antiphon.cli.workflows.run:run_workflow", "Run a workflow, and wait for its end."),
    "runs": (
        "antiphon.cli.workflows.runs:app",
        "List, watch and cancel workflow runs, answer their requests, settle their writes, and resume them.",
    ),
}

app = group_of(
    COMMANDS,
    "Check, publish and run workflows: files that define the order of tool calls.\n\n"
    "Check a file (validate, dry-run), publish it (publish, or ANTIPHON_WORKFLOWS of the "
    "coordinators), and run a workflow by its name (run). `runs` shows and controls started "
    "runs.",
)
