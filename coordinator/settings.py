"""Settings of the coordinator: `ANTIPHON_COORDINATOR_<NAME>`."""

from typing import Annotated

from antiphon_shared.events.session import Limits
from antiphon_shared.process.settings import Settings, comma_list
from antiphon_shared.values import Tenant
from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from coordinator.decision import OfferBounds

_ASSEMBLY_S_MIN = 15.0


class CoordinatorSettings(Settings):
    """Defaults for what a query leaves out, and the coordinator's own bounds."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_COORDINATOR_")
    section = "coordinator"

    max_rounds: int = Field(default=4, ge=1, le=100, description="Reasoning rounds of a session at most.")
    max_tool_calls: int = Field(default=20, ge=0, le=10_000, description="Tool calls of a session at most.")
    max_tokens: int = Field(
        default=200_000, ge=100, le=100_000_000, description="Model tokens of a session at most, in and out."
    )
    deadline_s: float = Field(
        default=300, gt=0, le=86_400, description="Seconds from a query's submission to its answer."
    )
    model_failures_max: int = Field(
        default=4,
        ge=1,
        le=100,
        description="Failed replies of a session after which the model is asked once more, without tools.",
    )
    person_wait_s: float = Field(
        default=3_600,
        ge=0.1,
        le=86_400,
        description="Seconds a person's decision or answer is waited for at most; within the deadline.",
    )
    concurrency: int = Field(default=256, ge=1, le=10_000, description="Messages in hand at once.")
    intake: int = Field(default=128, ge=1, le=10_000, description="Submissions in hand at once.")
    tenant_weights: Annotated[
        tuple[str, ...],
        *comma_list("a tenant with its weight", r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}=\d{1,4}(\.\d{1,2})?"),
    ] = Field(
        default=(),
        description="Comma list such as `gold=4,trial=0.5`: turns of tenants whose queries wait for room, for each "
        "turn of a tenant that is not named.",
    )
    steps: Annotated[tuple[str, ...], *comma_list("a path", r"[^?*]+")] = Field(
        default=(),
        description="Comma list of YAML files with steps, and of folders with such files, that a query may name by the "
        "file's name without its ending. Read at the start; set it alike for all coordinators.",
    )
    grant_key_file: str = Field(
        default="",
        description="PEM file of the public keys that verify grants; without one a grant counts for nothing. When "
        "empty, the file of ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE, if that is set for the coordinator too.",
    )
    catalogue_wait_s: float = Field(
        default=20, ge=0, le=600, description="Seconds a new session waits for a dispatcher's catalogue."
    )
    tools_offered_all_max: int = Field(
        default=30, ge=1, le=1_000, description="Tools up to which all that a session may use are offered."
    )
    tools_offered: int = Field(
        default=8,
        ge=1,
        le=50,
        description="Tools offered where there are more: those that fit the question best, beside pinned ones.",
    )
    summaries_max: int = Field(
        default=4,
        ge=0,
        le=100,
        description="Summaries of a session that a model is asked for at most, where its memory outgrows the "
        "briefing; 0: none.",
    )

    @field_validator("tenant_weights")
    @classmethod
    def _are_weights(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        named = set()
        for tenant, _, weight in (entry.partition("=") for entry in given):
            if not float(weight):
                raise ValueError(f"the weight of {tenant} is 0, so that it would wait until its deadline")
            if tenant in named:
                raise ValueError(f"{tenant} has two weights")
            named.add(tenant)
        return given

    @property
    def weights(self) -> dict[Tenant, float]:
        """Return the tenants that have a weight of their own."""
        return {
            tenant: float(weight) for tenant, _, weight in (one.partition("=") for one in self.tenant_weights)
        }

    @property
    def offer(self) -> OfferBounds:
        """Return the bounds on the number of offered tools."""
        return OfferBounds(all_max=self.tools_offered_all_max, subset=self.tools_offered)

    def limits(self, lease_s: float, deadline_max_s: float) -> Limits:
        """Return the default limits of a session. The work of a dead assembler is reclaimed within two leases."""
        return Limits(
            max_rounds=self.max_rounds,
            max_tool_calls=self.max_tool_calls,
            max_tokens=self.max_tokens,
            deadline_s=self.deadline_s,
            assembly_s=max(_ASSEMBLY_S_MIN, 3 * lease_s),
            summaries_max=self.summaries_max,
            model_failures_max=self.model_failures_max,
            person_s=self.person_wait_s,
            deadline_max_s=deadline_max_s,
        )
