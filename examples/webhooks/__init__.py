"""Events for other services, signed so that these can verify the sender.

    export WEBHOOK_SECRET=a-long-random-word WEBHOOK_URLS=http://127.0.0.1:8766/events
    python -m examples.webhooks.receiver --port 8766 &
    ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES=read,write,webhooks:send \\
        antiphon ask "Tell the receiver that order 1024 was shipped" --tools examples.webhooks

A request is the event as JSON, `{"type": ..., "data": ...}`, with three headers:

    Idempotency-Key       the name of this one effect; a repeated request has the same
    X-Webhook-Timestamp   when it was sent, in seconds since 1970
    X-Webhook-Signature   v1=HMAC-SHA256, in hex, over timestamp, key and body with a `.` between them

The key is signed as well; otherwise a recorded request could be sent again under another key. A receiver refuses
timestamps more than five minutes from its own time, and answers a key it has seen without doing anything again.

What to look at:

- `dispatch_event` sends one event to every address of WEBHOOK_URLS, a comma list, 25 at once, in one call. Each
  address is retried by itself, and the result has the outcome of each: `DELIVERED`, `DUPLICATE`, or a code with
  an error type, such as `UNREACHABLE` and `api_failure`. `to` sends to some of them only.
- It passes `context.idempotency_key` on to services that honour it, and may so say `idempotent=True`: when a
  worker dies after sending to some, another sends to all again, and each receiver takes it once.
- WEBHOOK_SECRET is a `SecretStr`, read where it is used; no error or result can show it. Name it in
  ANTIPHON_TOOL_DISPATCHER_SECRETS too, and it is kept out of the results of all other tools.
- WEBHOOK_URLS is the operator's: a model chooses the event, and some of these addresses, but no others.
- `check_event` says `validates="event"`: a query with an `output_schema` may name it in `validation_tools`, and then
  gets only an event that has passed it (docs/structured-answers.md).
- `scopes`: to send events to other services needs more than the permission to write.
"""

from .checking import check_event
from .tools import dispatch_event

__all__ = ["check_event", "dispatch_event"]
