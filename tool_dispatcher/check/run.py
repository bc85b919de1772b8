"""The shell of the check: it passes every case to the tool as the dispatcher does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.process.ids import idempotency_key, new_id
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.values import ToolArguments

from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import error_of
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.authoring.validate import validate
from tool_dispatcher.check.cases import Case, cases
from tool_dispatcher.check.generated import draw
from tool_dispatcher.check.judge import Judge, Judgement
from tool_dispatcher.check.short_json import short_json
from tool_dispatcher.check.verdict import Fault, Happened, Outcome, faults
from tool_dispatcher.import_failures import location_of
from tool_dispatcher.running.execute import ExecutionEnd, execute_without_batch
from tool_dispatcher.running.threads import Threads

EXAMPLES_MAX = 50
RUN_S_MAX = 300.0
_TIMEOUTS_MAX = 3
_TENANT = "check"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a check; `secrets` are values that no outcome may show."""

    runs_writes: bool = False
    examples_max: int = EXAMPLES_MAX
    """The number of valid arguments to draw; each is sent unchanged, and with a change."""
    seed: int = 0
    secrets: tuple[str, ...] = ()
    run_s_max: float = RUN_S_MAX
    """The time for calls of one tool, in seconds; after it, cases are only validated."""


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """A case, its outcome, and the faults of the outcome."""

    kind: str
    label: str
    arguments: str
    """The JSON of the arguments, with long values cut."""
    judgement: Judgement
    happened: Happened
    model_view: ToolError | str
    """The model's view: the error, or the JSON of the data with long values cut."""
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class ToolReport:
    """The report on one tool: all its cases."""

    tool: str
    effect: str
    checked: tuple[CheckedCase, ...]
    notes: tuple[str, ...] = ()

    def count(self, happened: Happened) -> int:
        return sum(one.happened == happened for one in self.checked)

    @property
    def failed(self) -> tuple[CheckedCase, ...]:
        return tuple(one for one in self.checked if one.faults)


async def check_tool(
    tool: Tool, options: Options, on_checked: Callable[[CheckedCase], None] = lambda checked: None
) -> ToolReport:
    """Send a tool the arguments of a careless or hostile caller, one call after the other.

    If the validation accepts the arguments, a read runs; a write runs only with `options.runs_writes`.
    `on_checked` is called after each case.

    Raises ConfigurationError if the libraries that generate arguments are not installed.
    """
    return await _Check(tool, options, on_checked).report()


class _Check:
    def __init__(self, tool: Tool, options: Options, on_checked: Callable[[CheckedCase], None]) -> None:
        self._tool, self._options, self._on_checked = tool, options, on_checked
        self._judge = Judge(tool.input_schema)
        self._runs = tool.contract.effect == "read" or options.runs_writes
        self._timeouts = 0
        self._ran_s = 0.0
        self._session_id = f"check-{new_id()}"
        self._threads = Threads(_TIMEOUTS_MAX + 1)

    async def report(self) -> ToolReport:
        drawn = draw(self._judge.schema, self._options.examples_max, self._options.seed)
        all_cases = cases(self._judge.schema, self._tool.example, drawn)
        try:
            checked = tuple([await self._checked(case, n) for n, case in enumerate(all_cases, start=1)])
        finally:
            self._threads.close()
        notes = tuple(self._notes(checked, len(drawn)))
        if self._timeouts and self._timeouts == sum(one.happened == "ran" for one in checked):
            checked = tuple([_with_timeout_fault(one) if one.happened == "ran" else one for one in checked])
        return ToolReport(self._tool.name, self._tool.contract.effect, checked, notes)

    async def _checked(self, case: Case, n: int) -> CheckedCase:
        judgement = self._judge.of(case.arguments)
        outcome = await self._outcome(case, judgement, n)
        secrets = self._options.secrets
        case_faults = faults(case, judgement, outcome, self._judge, secrets)
        redactor = Redactor((*secrets, *self._judge.secrets_in(case.arguments)))
        checked = CheckedCase(
            kind=case.kind,
            label=case.label,
            arguments=redactor.text(short_json(case.arguments)),
            judgement=judgement,
            happened=outcome.happened,
            model_view=_redacted_outcome(outcome, redactor),
            faults=tuple(replace(fault, detail=redactor.text(fault.detail)) for fault in case_faults),
        )
        self._on_checked(checked)
        return checked

    async def _outcome(self, case: Case, judgement: Judgement, n: int) -> Outcome:
        """Return the outcome of a case; invalid arguments do not run, even if the validation wrongly accepts them."""
        try:
            arguments = validate(self._tool, case.arguments)
        except Exception as error:  # noqa: BLE001  # a model's validators are the tool's own code
            return _raised("refused", error_of(error, "read"), error)
        if isinstance(arguments, ToolError):
            return Outcome("refused", arguments)
        if judgement.word == "invalid" or not self._runs or self._stopped_because:
            return Outcome("accepted")
        started_s = monotonic_s()
        data, raised = await self._run(arguments, n)
        took_s = monotonic_s() - started_s
        self._ran_s += took_s
        if not isinstance(data, ToolError):
            return Outcome("ran", data=data)
        self._timeouts += took_s >= self._tool.contract.timeout_s
        if raised is None:
            return Outcome("ran", data)
        return _raised("ran", data, raised)

    @property
    def _stopped_because(self) -> str:
        """Return why no more cases run; empty while they do."""
        if self._timeouts >= _TIMEOUTS_MAX:
            return f"{_TIMEOUTS_MAX} calls did not end in time"
        if self._ran_s >= self._options.run_s_max:
            return f"its calls took {self._ran_s:.3g} s, and the limit is {self._options.run_s_max:.3g} s"
        return ""

    async def _run(self, arguments: ToolArguments, n: int) -> ExecutionEnd:
        timeout_s = self._tool.contract.timeout_s
        call_id = f"case-{n}"
        context = ToolContext(
            idempotency_key=idempotency_key(_TENANT, self._session_id, 1, call_id),
            session_id=self._session_id,
            call_id=call_id,
            attempt=1,
            deadline=utc_now() + timedelta(seconds=timeout_s),
            tenant=_TENANT,
        )
        return await execute_without_batch(self._tool, arguments, context, self._threads, timeout_s)

    def _notes(self, checked: tuple[CheckedCase, ...], generated: int) -> Iterator[str]:
        if why := self._stopped_because:
            yield f"Not all cases were run, because {why}. The others were only validated."
        if not generated and self._options.examples_max:
            yield "No valid arguments could be generated from the schema; only the fixed cases were sent."
        if self._tool.example is None:
            yield "It has no example, and none could be generated from its schema. Add one with `example=`."
        contract = self._tool.contract
        if (
            contract.effect == "write"
            and contract.repeat == "return"
            and not self._tool.input_schema.get("properties")
        ):
            yield (
                "It is a write without parameters, so a session runs it only once: later calls get "
                'the first call\'s result. If every call should run, use repeat="run".'
            )
        if all(one.happened == "refused" for one in checked):
            yield "The tool accepted no case, so only its refusals were checked."


def _raised(happened: Happened, shown: ToolError, error: BaseException) -> Outcome:
    return Outcome(happened, shown, raised=type(error).__name__, raised_at=location_of(error))


def _with_timeout_fault(checked: CheckedCase) -> CheckedCase:
    """Return a case with the fault that no call of the tool ended in time."""
    change = "Give the tool's requests a timeout, or raise its `timeout_s`."
    return replace(checked, faults=(*checked.faults, Fault("no call of the tool ended in time", change)))


def _redacted_outcome(outcome: Outcome, redactor: Redactor) -> ToolError | str:
    if outcome.error is not None:
        return ToolError.model_validate(redactor.json(outcome.error.model_dump(mode="json")))
    return redactor.text(short_json(outcome.data)) if outcome.happened == "ran" else "(not run)"
