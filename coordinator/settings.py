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
    """Defaults for options that a query leaves out, and the coordinator's own bounds."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_COORDINATOR_")
    section = "coordinator"

    max_rounds: int = Field(
        default=4, ge=1, le=100, description="Maximum number of reasoning rounds of a session."
    )
    max_tool_calls: int = Field(
        default=20, ge=0, le=10_000, description="Maximum number of tool calls of a session."
    )
    max_tokens: int = Field(
        default=200_000,
        ge=100,
        le=100_000_000,
        description="Maximum number of model tokens of a session, input and output together.",
    )
    deadline_s: float = Field(
        default=300, gt=0, le=86_400, description="Maximum seconds from a query's submission to its answer."
    )
    model_failures_max: int = Field(
        default=4,
        ge=1,
        le=100,
        description="Number of failed model replies in a session after which the model is called one "
        "last time, without tools.",
    )
    person_wait_s: float = Field(
        default=3_600,
        ge=0.1,
        le=86_400,
        description="Maximum seconds to wait for a person's decision or answer, within the deadline.",
    )
    concurrency: int = Field(
        default=256, ge=1, le=10_000, description="Maximum number of messages in flight per process."
    )
    intake: int = Field(
        default=128, ge=1, le=10_000, description="Maximum number of submissions in flight per process."
    )
    tenant_weights: Annotated[
        tuple[str, ...],
        *comma_list("a tenant with its weight", r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}=\d{1,4}(\.\d{1,2})?"),
    ] = Field(
        default=(),
        description="Comma list of tenant weights for waiting queries, such as `gold=4,trial=0.5`. A "
        "tenant with weight 4 gets four turns for each turn of an unlisted tenant.",
    )
    steps: Annotated[tuple[str, ...], *comma_list("a path", r"[^?*]+")] = Field(
        default=(),
        description="Comma list of YAML files with steps, or folders of such files. A query names "
        "the steps by the file's name without its suffix. They are read at start-up; set "
        "it to the same value for all coordinators.",
    )
    grant_key_file: str = Field(
        default="",
        description="PEM file of the public keys that verify grants; without it, grants are ignored. "
        "When empty, the file of ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE, if that is set "
        "for the coordinator too.",
    )
    catalogue_wait_s: float = Field(
        default=20,
        ge=0,
        le=600,
        description="Maximum seconds that a new session waits for a running dispatcher with its catalogue.",
    )
    tools_offered_all_max: int = Field(
        default=30,
        ge=1,
        le=1_000,
        description="Maximum number of permitted tools up to which all of them are offered to the model.",
    )
    tools_offered: int = Field(
        default=8,
        ge=1,
        le=50,
        description="Number of tools offered above that maximum: the tools most relevant to the "
        "question, in addition to pinned ones.",
    )
    summaries_max: int = Field(
        default=4,
        ge=0,
        le=100,
        description="Maximum number of model-written summaries of a session whose memory exceeds the "
        "briefing; 0 turns them off.",
    )

    @field_validator("tenant_weights")
    @classmethod
    def _are_weights(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        tenants = set()
        for tenant, _, weight in (entry.partition("=") for entry in entries):
            if not float(weight):
                raise ValueError(
                    f"the weight of {tenant} is 0, so its queries would wait until their deadline"
                )
            if tenant in tenants:
                raise ValueError(f"{tenant} has two weights")
            tenants.add(tenant)
        return entries

    @property
    def weights(self) -> dict[Tenant, float]:
        """Return the weights of the tenants that have one."""
        return {
            tenant: float(weight) for tenant, _, weight in (one.partition("=") for one in self.tenant_weights)
        }

    @property
    def offer(self) -> OfferBounds:
        """Return the bounds on the number of offered tools."""
        return OfferBounds(all_max=self.tools_offered_all_max, subset=self.tools_offered)

    def limits(self, lease_s: float, deadline_max_s: float) -> Limits:
        """Return the default limits of a session.

        The time for the assembler exceeds two leases, within which the work of a dead assembler is reclaimed.
        """
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
