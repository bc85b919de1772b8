"""Tools and answers for models without tool calling: described in the prompt, and read from one JSON form."""

from typing import Literal

ToolStyle = Literal["native", "prompted"]
