"""The arguments of a tool call: validated and coerced, or refused with the text that the model is told.

Which release's rules apply is one name, `ArgumentRules`; what they all share is here: the texts around the faults,
and that a schema is compiled once, as long as it is among the last that were used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, Final, Literal, Protocol, TypeAlias

from ..errors import CodecError, PiTrioError
from ..jsontext import print_json
from ..jsonvalue import JSON, thaw
from .checks import Fault, SchemaError
from .js_value import Plain, adopt
from .pi_schema import PiSchemaRules
from .typebox import TYPEBOX, TYPEBOX_0_80, TYPEBOX_0_85, UNEXPLAINED, TypeBoxRules

#: The rules by the name that a profile gives them: of 1.6.0, 1.0.3, 0.85.0 and 0.80.2.
ArgumentRules: TypeAlias = Literal["pi-schema", "typebox", "typebox-0.85", "typebox-0.80"]

#: So many schemas stay compiled: far more than an agent has tools.
_KEPT: Final = 512


class InvalidArguments(PiTrioError, ValueError):  # noqa: N818  (named by what the model did, like its text)
    """The arguments of a call do not fit. The text is what the model is told, as Pi prints it."""


class CompiledRules(Protocol):
    """A schema, compiled by one release's rules."""

    def judge(self, arguments: Plain) -> tuple[Plain, list[Fault]]:
        """The coerced arguments, and what is wrong with them. What is given is left alone."""
        ...


_COMPILERS: Final[Mapping[ArgumentRules, Callable[[JSON], CompiledRules]]] = {
    "pi-schema": PiSchemaRules,
    "typebox": partial(TypeBoxRules, dialect=TYPEBOX),
    "typebox-0.85": partial(TypeBoxRules, dialect=TYPEBOX_0_85),
    "typebox-0.80": partial(TypeBoxRules, dialect=TYPEBOX_0_80),
}


def validate_arguments(
    name: str,
    parameters: JSON,
    arguments: JSON,
    arguments_error: str | None = None,
    *,
    rules: ArgumentRules = "pi-schema",
) -> Any:
    """The arguments that a tool gets: valid, coerced, and a plain deep copy that is the tool's own to change.

    Whole numbers are integers in it, as far as JavaScript prints them as such, and keys stand in JavaScript's order.

    Args:
        name: the tool's name as the call gives it, for the text.
        parameters: the JSON Schema, plain or frozen. It is compiled once for the very object, so do not change it.
        arguments: what the model sent, or what became of it in `prepare_arguments`. Not changed.
        arguments_error: why the provider could not read the arguments. Under "pi-schema", unless it is empty,
            nothing else counts; the older rules do not know of it.
        rules: which release's rules apply (`Profile.argument_rules`).

    Raises:
        InvalidArguments: `arguments_error` counts, the arguments do not fit or are not JSON, the schema is
            none, or either is nested too deeply to be followed.
    """
    if arguments_error and rules == "pi-schema":
        raise _unreadable(name, arguments_error)
    try:
        received = adopt(arguments)
        value, faults = _compiled(_ByIdentity(parameters), rules).judge(received)
        if not faults:
            return thaw(value)  # a conversion may have put one part at two places
        shown = print_json(received, indent=2)
    except SchemaError as error:
        raise InvalidArguments(str(error)) from None
    except CodecError as error:
        raise _unreadable(name, str(error)) from None
    except RecursionError:
        raise _unreadable(name, "nested too deeply to be checked") from None
    listed = "\n".join(map(_line, faults))
    raise InvalidArguments(f'Validation failed for tool "{name}":\n{listed}\n\nReceived arguments:\n{shown}')


def _line(fault: Fault) -> str:
    if fault is UNEXPLAINED:
        return fault.message
    return f"  - {'.'.join(fault.path) if fault.path else 'root'}: {fault.message}"


def _unreadable(name: str, reason: str) -> InvalidArguments:
    return InvalidArguments(f'Invalid arguments for tool "{name}": {reason}')


class _ByIdentity:
    """A schema as a key: equal to itself alone, and kept, so that its identity is not used again."""

    __slots__ = ("value",)

    def __init__(self, value: JSON) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@lru_cache(maxsize=_KEPT)
def _compiled(parameters: _ByIdentity, rules: ArgumentRules) -> CompiledRules:
    return _COMPILERS[rules](parameters.value)
