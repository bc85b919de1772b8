"""A catalogue of a dozen courses with transcripts, and two tools to ask it.

    ANTIPHON_TOOLS=examples.courses python -m tool_dispatcher
    antiphon ask --tools examples.courses \\
        "Find a course that discusses the same topic as lesson 4 of course Bread from Scratch"

Outside a checkout it is `antiphon.examples.courses`.
"""

from .tools import get_course_outline, search_course_content

__all__ = ["get_course_outline", "search_course_content"]
