"""A function as a tool, whole: what the model is told of it, and the way in and out of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ...jsonvalue import JSON, FrozenDict
from .answers import Answers, read_answers
from .arguments import Arguments, read_arguments
from .docstring import read_docstring
from .shadows import Shadows
from .signature import Signature, read_signature


@attrs.frozen(kw_only=True)
class Definition:
    """What was read from a function. It does not hold the function: a method is called with many instances."""

    description: str
    parameters: FrozenDict
    signature: Signature
    arguments: Arguments
    answers: Answers


def define(
    function: Callable[..., Any], tool: str, *, parameters: Mapping[str, JSON] | None, output: Any
) -> Definition:
    """Read a function.

    Args:
        tool: what to call it in refusals.
        parameters: a schema of its arguments, if it is given one.
        output: what its results are made of; None to go by what it is annotated to return.

    Raises:
        ToolDefinitionError: it cannot be a tool as it stands.
    """
    description, described = read_docstring(inspect.getdoc(function))
    signature = read_signature(function, tool)
    arguments, schema = read_arguments(tool, signature, described, Shadows(answers=False), parameters)
    return Definition(
        description=description,
        parameters=schema,
        signature=signature,
        arguments=arguments,
        answers=read_answers(tool, signature.returns, output, Shadows(answers=True)),
    )
