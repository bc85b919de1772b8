"""The courses example as the model sees it."""

from typing import Any

from antiphon_shared.tools.calls import ToolError

from examples import courses
from tests.reasoning_engine.offline.rounds import OfferedTool, Refused
from tool_dispatcher.authoring.tool import Tool, ToolFailed


def _offered(tool: Tool) -> OfferedTool:
    def run(**arguments: Any) -> Any:
        try:
            return tool.function(**arguments)
        except ToolFailed as failed:
            action = failed.suggested_action or ""
            error = ToolError(error_type=failed.error_type, message=failed.message, suggested_action=action)
            raise Refused(error) from None

    definition = tool.definition
    return OfferedTool(definition.name, definition.description, definition.input_schema, run)


COURSE_TOOLS = (_offered(courses.get_course_outline), _offered(courses.search_course_content))
