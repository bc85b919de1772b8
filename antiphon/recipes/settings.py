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
        description="Run `antiphon recipes learn --follow` within `antiphon up`: it learns from each "
        "complete session, and offers the recipes to models.",
    )
    kept: int = Field(
        default=100,
        ge=1,
        le=10_000,
        description="Maximum number of stored recipes; above it, the least recently learned or used "
        "recipe is removed.",
    )
