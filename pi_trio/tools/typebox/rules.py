"""A tool's schema by the argument rules of Pi up to 1.0.3."""

from __future__ import annotations

from typing import Final

from ...jsontext import print_json
from ...jsonvalue import JSON
from ..checks import Fault, SchemaError
from ..js_value import Plain, adopt, same
from .coerce import Coercion
from .dialect import Dialect
from .document import Document

#: Said where the releases refuse a value, and find nothing wrong with it when asked why.
UNEXPLAINED: Final = Fault((), "Unknown validation error")


class TypeBoxRules:
    """A schema, compiled once for any number of calls.

    Args:
        parameters: the JSON Schema of a tool's arguments. Later changes to it go unnoticed.
        dialect: the release's ways.

    Raises:
        SchemaError: it is no schema.
        CodecError: it is not JSON.
        RecursionError: it is nested too deeply.
    """

    def __init__(self, parameters: JSON, dialect: Dialect) -> None:
        root = adopt(parameters)
        if not isinstance(root, dict | list):
            raise SchemaError(f"{print_json(root)} cannot be the schema of arguments")
        self._document = Document(root, dialect)
        self._coercion = Coercion(root, dialect)

    def judge(self, arguments: Plain) -> tuple[Plain, list[Fault]]:
        """The coerced arguments, and what is wrong with them: nothing if they are valid.

        An atom that coercion changes, but not into something valid, passes as it is.

        Raises:
            SchemaError: the release stops with an error of its own.
            RecursionError: arguments and schema together go too deep.
        """
        value = self._coercion.coerce(arguments)
        if self._document.accepts(value):
            return value, []
        if not isinstance(value, dict | list) and not same(value, arguments):
            return arguments, []
        faults = self._document.explain(value).faults
        return value, faults or [UNEXPLAINED]
