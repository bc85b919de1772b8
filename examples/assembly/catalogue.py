"""The components that there are, and lines that people have built of them."""

from .lines import ComponentDetails, Setting

_STATIONS = ("Skagen", "Esbjerg", "Hirtshals", "Grenaa", "Korsor", "Gedser")


def _station(what: str) -> Setting:
    return Setting(
        name="station",
        type="string",
        description=f"Station whose {what} is read.",
        required=True,
        choices=_STATIONS,
    )


def _minutes(name: str, description: str, **more: object) -> Setting:
    return Setting.model_validate(
        {
            "name": name,
            "type": "integer",
            "description": description,
            "minimum": 1,
            "maximum": 1440,
            **more,
        }
    )


CATALOGUE: tuple[ComponentDetails, ...] = (
    ComponentDetails(
        component="schedule",
        kind="trigger",
        summary="Run the line again and again, every so many minutes.",
        euro_per_month=0,
        settings=(_minutes("every_minutes", "Minutes between two runs.", required=True),),
    ),
    ComponentDetails(
        component="daily",
        kind="trigger",
        summary="Run the line once a day at a time of day.",
        euro_per_month=0,
        settings=(
            Setting(
                name="time",
                type="string",
                description="Time of day, such as 06:30.",
                required=True,
                pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
            ),
        ),
    ),
    ComponentDetails(
        component="web_request",
        kind="trigger",
        summary="Run the line when another program sends a request to an address.",
        euro_per_month=2,
        settings=(
            Setting(
                name="path",
                type="string",
                description="Path of the address, such as /alarm.",
                required=True,
                pattern=r"^/[a-z0-9/-]{1,60}$",
            ),
        ),
    ),
    ComponentDetails(
        component="water_gauge",
        kind="source",
        summary="Read the water level at a station, in metres.",
        euro_per_month=3,
        settings=(_station("water level"),),
    ),
    ComponentDetails(
        component="wind_mast",
        kind="source",
        summary="Read the speed of the wind at a station, in metres per second.",
        euro_per_month=3,
        settings=(
            _station("wind"),
            Setting(
                name="height_m",
                type="integer",
                description="Height above the ground, in metres.",
                default=10,
                minimum=2,
                maximum=100,
            ),
        ),
    ),
    ComponentDetails(
        component="rain_bucket",
        kind="source",
        summary="Read the rain of the last hour at a station, in millimetres.",
        euro_per_month=2,
        settings=(_station("rain"),),
    ),
    ComponentDetails(
        component="thermometer",
        kind="source",
        summary="Read the temperature of the air at a station, in degrees Celsius.",
        euro_per_month=1.5,
        settings=(_station("temperature"),),
    ),
    ComponentDetails(
        component="threshold",
        kind="filter",
        summary="Let a value pass only when it is above, or below, a limit.",
        euro_per_month=0,
        settings=(
            Setting(
                name="limit",
                type="number",
                description="The limit, in the unit of the source.",
                required=True,
                minimum=-100,
                maximum=1000,
            ),
            Setting(
                name="side",
                type="string",
                description="The side of the limit that passes.",
                default="above",
                choices=("above", "below"),
            ),
        ),
    ),
    ComponentDetails(
        component="average",
        kind="filter",
        summary="Replace a value by its average over the last minutes.",
        euro_per_month=0.5,
        settings=(_minutes("window_minutes", "Minutes that the average is taken over.", default=60),),
    ),
    ComponentDetails(
        component="quiet_time",
        kind="filter",
        summary="Let nothing more pass for some minutes after a value has passed.",
        euro_per_month=0,
        settings=(_minutes("silence_minutes", "Minutes of silence.", required=True),),
    ),
    ComponentDetails(
        component="chat_message",
        kind="action",
        summary="Write to a channel of the team's chat.",
        euro_per_month=0,
        settings=(
            Setting(
                name="channel",
                type="string",
                description="Channel, such as #harbour.",
                required=True,
                pattern=r"^#[a-z][a-z0-9-]{1,30}$",
            ),
        ),
    ),
    ComponentDetails(
        component="email",
        kind="action",
        summary="Send an e-mail.",
        euro_per_month=0.5,
        settings=(
            Setting(
                name="to",
                type="string",
                description="Address, such as watch@skagen.example.",
                required=True,
                pattern=r"^[a-z0-9._-]+@([a-z0-9-]+\.)+[a-z]{2,}$",
            ),
        ),
    ),
    ComponentDetails(
        component="siren",
        kind="action",
        summary="Sound the siren of a harbour.",
        euro_per_month=9,
        settings=(
            Setting(
                name="site",
                type="string",
                description="Harbour whose siren sounds.",
                required=True,
                choices=_STATIONS,
            ),
            Setting(
                name="seconds",
                type="integer",
                description="Seconds that it sounds.",
                default=10,
                minimum=1,
                maximum=60,
            ),
        ),
    ),
    ComponentDetails(
        component="table_row",
        kind="action",
        summary="Add the value to a table, with its time.",
        euro_per_month=1,
        settings=(
            Setting(
                name="table",
                type="string",
                description="Name of the table, such as water_levels.",
                required=True,
                pattern=r"^[a-z][a-z0-9_]{1,40}$",
            ),
        ),
    ),
)

EXAMPLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Write to the chat when the water gauge passes a limit",
        ("schedule", "water_gauge", "threshold", "chat_message"),
    ),
    (
        "Sound the siren when the wind passes a limit, then be quiet for a while",
        ("schedule", "wind_mast", "threshold", "quiet_time", "siren"),
    ),
    ("Send the average temperature by e-mail every day", ("daily", "thermometer", "average", "email")),
    ("Keep the rain in a table", ("schedule", "rain_bucket", "table_row")),
    (
        "Send an e-mail on request when the temperature is below a limit",
        ("web_request", "thermometer", "threshold", "email"),
    ),
)
"""What a line does, and its components in order."""
