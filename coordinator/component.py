"""Wiring: the only module of the coordinator that reads settings."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from antiphon_shared.breakers.outages import Outages
from antiphon_shared.bus import early_cancellations
from antiphon_shared.bus.admission import Admission
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.bus.conversations import SharedTurns
from antiphon_shared.bus.intake import Intake
from antiphon_shared.bus.offered_workflows import OfferedWorkflows
from antiphon_shared.bus.recipe_store import KeptRecipes
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.events import AnyEvent
from antiphon_shared.memory.conversation import Turns
from antiphon_shared.process.breaker_settings import BreakerSettings
from antiphon_shared.process.environment import load_environment
from antiphon_shared.process.ids import new_consumer_name
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.tools.grant_verifier import GrantVerifier

from coordinator.current_catalogue import CurrentCatalogue
from coordinator.grants import Grants
from coordinator.handlers import CheckGrant, Coordinator
from coordinator.models import in_order
from coordinator.published import read_published, with_published
from coordinator.runs.handlers import Runs
from coordinator.settings import CoordinatorSettings
from coordinator.workflow_files import Publishing, read_workflow_files

if TYPE_CHECKING:
    from antiphon_shared.tools.grant_keys import PublicKey


def build(
    bus: Bus,
    settings: CoordinatorSettings | None = None,
    pipeline: PipelineSettings | None = None,
    outages: Callable[[], Outages] | None = None,
    turns: Turns | None = None,
    grants: CheckGrant | None = None,
    *,
    cancellation_reason: Callable[[AnyEvent], Awaitable[str | None]] | None = None,
    is_served: Callable[[], Awaitable[bool]] | None = None,
    is_replay: bool = False,
) -> Service:
    """Return the coordinator on `bus`: its decisions, and the intake of queries.

    A replay passes the values that a recorded session was decided with. Without them, settings come from the
    environment, and outages, conversations and early cancellations from the bus. Raises ConfigurationError.
    """
    settings = load(CoordinatorSettings) if settings is None else settings
    pipeline = load(PipelineSettings) if pipeline is None else pipeline
    breakers = SharedBreakers(bus, load(BreakerSettings).breaker)
    verified = Grants(GrantVerifier(_grant_keys(settings)))
    workflows, recipes = WorkflowStore(bus), KeptRecipes(bus)
    current = CurrentCatalogue(bus, is_always_served=is_replay)
    coordinator = Coordinator(
        settings.limits(bus.settings.lease_s, bus.settings.deadline_max_s),
        settings.catalogue_wait_s,
        current.of_running_dispatcher,
        bus.catalogue,
        offer=settings.offer,
        models=in_order(pipeline.model, pipeline.models),
        outages=outages or breakers.outages,
        turns=turns or SharedTurns(bus),
        grants=grants or verified.check,
        runs=Runs(workflows.specification, workflows.hashes, workflows.keep_on, recipes.run_begun),
        offered=OfferedWorkflows(bus, workflows, recipes),
        cancellation_reason=cancellation_reason or partial(early_cancellations.cancellation_reason, bus),
        last_catalogue=current.last_with_tools,
        is_served=is_served or current.is_served,
    )
    admission = Admission(bus, settings.weights)
    intake = _intake(bus, settings, admission, verified)
    publishing = Publishing(workflows, read_workflow_files(pipeline.workflows) if pipeline.workflows else ())
    let_in = partial(publishing.publish_then, intake.run)
    return Service(
        "coordinator",
        coordinator.handlers,
        settings.concurrency,
        background=(let_in, publishing.renew_until_cancelled, admission.run, breakers.run),
        keeps_partitions=True,
    )


def _intake(bus: Bus, settings: CoordinatorSettings, admission: Admission, verified: Grants) -> Intake:
    """Return the reader of the queue of queries."""
    published = read_published(settings.steps) if settings.steps else {}
    return Intake(
        bus,
        new_consumer_name(),
        settings.intake,
        deadline_s=settings.deadline_s,
        on_waiting=admission.wake,
        tenant_of=verified.tenant_of,
        resolved=partial(with_published, published=published),
    )


def _grant_keys(settings: CoordinatorSettings) -> "tuple[PublicKey, ...]":
    """Return the public keys of the coordinator's own setting, or else of the dispatcher's setting."""
    own, others = "ANTIPHON_COORDINATOR_GRANT_KEY_FILE", "ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE"
    path = settings.grant_key_file or load_environment(others)
    if not path:
        return ()
    from antiphon_shared.tools.grant_keys import load_keys  # cryptography takes long to import

    return load_keys(path, own if settings.grant_key_file else others)
