"""How many recipes are kept."""

from antiphon_shared.process.settings import Settings
from pydantic import Field
from pydantic_settings import SettingsConfigDict


class RecipeSettings(Settings):
    """Recipes: `ANTIPHON_RECIPES_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_RECIPES_")
    section = "recipes"

    kept: int = Field(
        default=100,
        ge=1,
        le=10_000,
        description="Recipes that are kept; beyond, the one that was not learned or used for longest goes.",
    )
