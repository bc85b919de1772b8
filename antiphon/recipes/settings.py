"""The settings of recipes: the learning, and the number kept."""

from antiphon_shared.process.settings import Settings
from pydantic import Field
from pydantic_settings import SettingsConfigDict


class RecipeSettings(Settings):
    """Recipes: `ANTIPHON_RECIPES_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_RECIPES_")
    section = "recipes"

    learn: bool = Field(
        default=False,
        description="Whether `antiphon up` also runs `antiphon recipes learn --follow`: each complete session is "
        "learned from, and models are offered what it did.",
    )
    kept: int = Field(
        default=100,
        ge=1,
        le=10_000,
        description="Recipes that are kept; beyond, the one that was not learned or used for longest goes.",
    )
