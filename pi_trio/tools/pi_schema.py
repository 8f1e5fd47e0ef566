"""The argument rules of Pi 1.6.0, which calls them pi-schema: coerce, check, and explain what fails."""

from __future__ import annotations

from ..jsonvalue import JSON
from .checks import Fault, Report, SchemaDocument
from .coerce import coerce, keeps_valid
from .js_value import Plain, adopt


class PiSchemaRules:
    """A schema, compiled once for any number of calls.

    Args:
        parameters: the JSON Schema of a tool's arguments. Later changes to it go unnoticed.

    Raises:
        SchemaError: it is no schema.
        CodecError: it is not JSON.
        RecursionError: it is nested too deeply.
    """

    def __init__(self, parameters: JSON) -> None:
        self._document = SchemaDocument(adopt(parameters))
        self._keeps_valid = keeps_valid(self._document.node)

    def judge(self, arguments: Plain) -> tuple[Plain, list[Fault]]:
        """The coerced arguments, and what is wrong with them: nothing if they are valid.

        Raises:
            RecursionError: arguments and schema together go too deep.
        """
        if self._keeps_valid and self._document.root.accepts(arguments):
            return arguments, []
        value = coerce(arguments, self._document)
        report = Report()
        if not self._document.root.accepts(value):
            self._document.root.explain(value, (), report)
            if not report.faults:
                report.add((), "invalid")
        return value, report.faults
