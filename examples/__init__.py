"""Tool sets with data of our own making: to try the pipeline with, and to copy from.

    assembly   fifteen tools in three steps: find components, configure them, deploy them; each step validates
    courses    a catalogue with transcripts: two plain reads
    crm        writes that happen once: an idempotency key, a batch, a write that can be asked what came of it
    documents  reads that build on each other: search first, then fetch or rerank; long results shown in part
    travel     ten tools and a file of workflows: flights, rooms and payments, what undoes them, failures on demand
    weather    a service over HTTP that may fail, limit or stall: bounds, retries, and something to ask instead
    webhooks   signed events to a receiver outside: a key the receiver honours, a secret, a scope of its own

    antiphon ask "Which lessons of the bread course are about fermentation?" --tools examples.courses

They are part of what `pip install` installs, as `antiphon.examples.courses` and so on; in a checkout `examples.courses`
is the same. They import `antiphon` and nothing else of ours, as a tool author would; `local_http` serves the two
little services, and `sqlite_file` keeps the three databases. What they need to know of a machine they read from one
variable each, named in their docstrings.
"""
