"""A tool component in Python: two tools for text, behind the interface of `wit/`.

componentize-py makes the packages `wit_world` and `componentize_py_types` from the WIT, and exports the class `Provider`.
"""

import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import log
from wit_world.imports.types import Call, Content, Content_Json, Definition, Failure_InvalidArguments, Hints

from words import slugify, word_count

TEXT = {"type": "string", "description": "The text"}

WORD_COUNT = {
    "type": "object",
    "properties": {
        "text": TEXT,
        "top": {
            "type": "integer",
            "minimum": 0,
            "maximum": 100,
            "description": "How many of the most frequent words to name; none by default",
        },
    },
    "required": ["text"],
    "additionalProperties": False,
}

SLUGIFY = {"type": "object", "properties": {"text": TEXT}, "required": ["text"], "additionalProperties": False}

# Each tool: the function, the schema of its arguments, its picture, and what the model reads.
TOOLS = {
    "word_count": (word_count, WORD_COUNT, "🔢", "Counts the words, characters and lines of a text."),
    "slugify": (slugify, SLUGIFY, "🔗", "Turns a title into a slug: lower-case ASCII words with hyphens between them."),
}


class Provider(exports.Provider):
    """What the host calls."""

    def register(self) -> list[Definition]:
        return [
            Definition(
                name=name,
                toolset="words",
                description=description,
                parameters=json.dumps(schema),
                output=None,
                emoji=emoji,
                required_env=[],
                max_result_size=None,
                hints=Hints.READ_ONLY | Hints.IDEMPOTENT | Hints.PARALLEL_SAFE,
            )
            for name, (_, schema, emoji, description) in TOOLS.items()
        ]

    def check(self, name: str) -> None:
        if name not in TOOLS:
            raise Err(f"there is no tool {name}")

    def handle(self, call: Call) -> list[Content]:
        function = TOOLS[call.name][0]
        try:
            result = function(**json.loads(call.arguments))
        except ValueError as why:
            raise Err(Failure_InvalidArguments(f"{why}; pass another text")) from why
        log.log(log.Level.DEBUG, f"{call.name} answered {call.context.call_id}")
        return [Content_Json(json.dumps(result))]
