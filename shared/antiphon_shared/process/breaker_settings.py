"""Settings of the circuit breakers, which all components share: `ANTIPHON_BREAKER_<NAME>`."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from antiphon_shared.breakers.breaker import Breaker
from antiphon_shared.process.settings import Settings


class BreakerSettings(Settings):
    """The rule of the circuit breakers, the same for all components."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_BREAKER_")
    section = "breaker"

    calls_min: int = Field(
        default=10,
        ge=1,
        le=1_000,
        description="Minimum number of calls of a tool or model in the window before its circuit can open.",
    )
    failure_rate: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of failed calls in the window at which a circuit opens.",
    )
    window_s: float = Field(default=60.0, gt=0, le=86_400, description="Length of the window, in seconds.")
    window_calls: int = Field(
        default=50, ge=1, le=1_000, description="Maximum number of calls in the window."
    )
    open_s: float = Field(
        default=15.0,
        gt=0,
        le=86_400,
        description="Seconds between the opening of a circuit and the next probe call.",
    )

    @property
    def breaker(self) -> Breaker:
        """Return the rule as a value."""
        return Breaker(**self.model_dump())
