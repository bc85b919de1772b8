"""The parameters of the tool `ask_user`: one question to the user, and suggested answers. Pure.

The dispatcher publishes the schema; the coordinator reads the arguments before the question is asked.
"""

from collections.abc import Mapping

from antiphon_shared.values import JsonSchema

QUESTION_CHARACTERS = 2_000
CHOICES_MAX, CHOICE_CHARACTERS = 10, 200

ASK_USER_PARAMETERS: JsonSchema = {
    "type": "object",
    "properties": {
        "question": {
            "type": "string",
            "minLength": 1,
            "maxLength": QUESTION_CHARACTERS,
            "pattern": r"\S",
            "description": "One question, with all that the user must know to answer it: they see nothing else.",
            "examples": ["Which of your two accounts do you mean?"],
        },
        "choices": {
            "type": "array",
            "maxItems": CHOICES_MAX,
            "items": {"type": "string", "minLength": 1, "maxLength": CHOICE_CHARACTERS, "pattern": r"\S"},
            "description": "Answers to suggest; the user may give any other.",
        },
    },
    "required": ["question"],
}


def read_question(arguments: Mapping[str, object]) -> tuple[str, tuple[str, ...]] | None:
    """Return the question and its choices; None if the arguments do not fit the schema."""
    question, choices = arguments.get("question"), arguments.get("choices", [])
    if arguments.keys() - {"question", "choices"} or not _is_text(question, QUESTION_CHARACTERS):
        return None
    if not isinstance(choices, list) or len(choices) > CHOICES_MAX:
        return None
    if not all(_is_text(choice, CHOICE_CHARACTERS) for choice in choices):
        return None
    return str(question), tuple(choices)


def _is_text(value: object, characters: int) -> bool:
    return isinstance(value, str) and len(value) <= characters and bool(value.strip())
