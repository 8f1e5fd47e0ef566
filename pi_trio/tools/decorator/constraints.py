"""Constraints that cannot be asked of their type: `gt=0` of a text, say.

pydantic finds that out with the first value, and raises a TypeError each time. Here it is found out beforehand, with a
value of each type that has none but values alike in this: no text can be compared with a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from pydantic_core import PydanticKnownError, SchemaError, SchemaValidator, ValidationError

#: A value of what pydantic calls so in its core schemas.
_VALUES: Final[Mapping[str, Any]] = {
    "str": "",
    "bytes": b"",
    "bool": True,
    "int": 1,
    "float": 1.0,
    "none": None,
    "list": [],
    "tuple": (),
    "set": set[Any](),
    "frozenset": frozenset[Any](),
    "dict": {},
    "typed-dict": {},
}


class ConstraintError(Exception):
    """A constraint cannot be asked of its type; the text says which."""


def check_constraints(schema: object) -> None:
    """Try the constraints in one of pydantic's core schemas that are its own functions. No code of users is called.

    Raises:
        ConstraintError: one of them cannot be asked of any value.
    """
    if isinstance(schema, list):
        for one in schema:
            check_constraints(one)
    elif isinstance(schema, dict):
        if schema.get("type") == "function-after":
            _check(schema)
        elif schema.get("type") == "chain":
            _check_chain(schema["steps"])
        for name, one in schema.items():
            if name not in ("metadata", "serialization", "default"):
                check_constraints(one)


def _check(schema: dict[str, Any]) -> None:
    function = schema["function"]["function"]
    if not isinstance(function, partial) or not function.func.__module__.startswith("pydantic."):
        return
    inner = schema["schema"]
    while inner.get("type") == "function-after":
        inner = inner["schema"]
    kind = inner.get("type")
    if kind not in _VALUES:
        return
    try:
        function(_VALUES[kind])
    except PydanticKnownError:
        pass  # it can be asked, and the answer is no
    except TypeError:
        asked = ", ".join(f"{name}={value!r}" for name, value in function.keywords.items())
        raise ConstraintError(f"{asked} cannot be asked of a {kind}") from None


def _check_chain(steps: list[Any]) -> None:
    """A type, and then what pydantic takes for a constraint of another."""
    kind, then = steps[0].get("type"), steps[-1]
    if len(steps) != 2 or kind not in _VALUES or then.get("type") != "function-wrap":
        return
    if not then["function"]["function"].__module__.startswith("pydantic."):
        return
    try:
        SchemaValidator(then).validate_python(_VALUES[kind])
    except (ValidationError, SchemaError):
        pass
    except TypeError:
        asked = ", ".join(f"{name}={value!r}" for name, value in then["schema"].items() if name != "type")
        raise ConstraintError(f"{asked} cannot be asked of a {kind}") from None
