"""Lines of components that watch something and act on it: fifteen tools, in three steps.

    ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES=read,write \\
        antiphon ask "Every 10 minutes, read the water gauge of station Skagen. When the limit of 2.5 is passed, \\
            write to channel #harbour. Name the line skagen-high-water and deploy it." \\
            --tools examples.assembly --steps examples/assembly/steps.yaml

A line is a trigger, a source, any number of filters, and one or more actions, such as schedule, water_gauge,
threshold, chat_message. The catalogue of components is a table in SQLite, and so are the lines that were deployed.

What to look at:

- `steps.yaml`: discovery finds the components, configuration gives them their settings, assembly deploys them. A
  step is offered only its own tools, so that a model chooses among five or six and not among fifteen.
- `validate_minimal` and `validate_full` say `validates="line"`: the configuration counts when both have passed on
  exactly what is returned.
- `deploy`: a write that stores its idempotency key with the line. Like many services it takes a faulty line and
  reports the status `broken`: that is why the steps validate first.
- `verify_deployment` says `validates="receipt"`: the answer cannot be "deployed" for a line that does not run.

ASSEMBLY_DATABASE names the database file; left out, it is `antiphon-assembly.sqlite3` in the machine's temporary
folder. It is made, with the catalogue in it, at first use.
"""

from .configuration import get_defaults, get_details, list_choices, validate_full, validate_minimal
from .deployment import assemble, deploy, estimate_cost, get_deployment, verify_deployment
from .discovery import find_examples, get_info, list_components, list_kinds, search_components

__all__ = [
    "assemble",
    "deploy",
    "estimate_cost",
    "find_examples",
    "get_defaults",
    "get_deployment",
    "get_details",
    "get_info",
    "list_choices",
    "list_components",
    "list_kinds",
    "search_components",
    "validate_full",
    "validate_minimal",
    "verify_deployment",
]
