"""From what a function returns to the result of its call.

What it is annotated to return decides. **Text and content** (`str`, content blocks, `ToolResult`, or no annotation) is
what the model is told. **`None`** alone means that the tool is there for its effect, and that it was done is all there
is to tell; from a function of text or content None is no answer (D-12). **Anything else** is structured: its JSON is
the result's `structured_content`, the same JSON as text is what the model is told, and its schema is the tool's
`output_schema`. A `ToolResult` may be returned in every other case than that of `None` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Never, NoReturn, Protocol, Union, get_args, get_origin

import attrs

from ...errors import CodecError
from ...jsontext import print_json
from ...jsonvalue import JSON, freeze
from ...messages import Content, TextContent, ToolResult
from ..context import whole
from .shadows import Shadows
from .signature import EMPTY, ToolDefinitionError
from .types import JsonType, MisfitError, UnsupportedTypeError, schema_of

#: What the model is told of a tool that is there for its effect.
DONE: Final = "Done."

_PLAIN: Final = (EMPTY, Any, object, Never, NoReturn)
_BLOCKS: Final = get_args(Content)


class Answers(Protocol):
    """Makes results of what a function returns."""

    @property
    def schema(self) -> JSON:
        """The schema of the structured content; None where there is none."""
        ...

    def result(self, tool: str, value: Any) -> ToolResult | None:
        """The result; None where the function has answered nothing.

        Raises:
            TypeError: what was returned cannot be a result.
        """
        ...


@attrs.frozen
class Plain:
    """The answers of a function that returns text or content, or does not say what."""

    schema: JSON = None

    def result(self, tool: str, value: Any) -> ToolResult | None:
        if value is None:
            return None
        try:
            return whole(value)
        except TypeError:
            raise TypeError(
                f"Tool {tool} returned {type(value).__name__}: annotate what it returns, or return a text"
            ) from None


@attrs.frozen
class Effect:
    """The answers of a function that returns None and nothing else."""

    schema: JSON = None

    def result(self, tool: str, value: Any) -> ToolResult:
        if value is not None:
            raise TypeError(f"Tool {tool} returned {type(value).__name__}, but is annotated to return None")
        return ToolResult(content=(TextContent(text=DONE),))


@attrs.frozen
class Structured:
    """The answers of a function that returns values of a type."""

    schema: JSON
    type: JsonType

    def result(self, tool: str, value: Any) -> ToolResult:
        if isinstance(value, ToolResult):
            return value
        try:
            content = freeze(self.type.write(value))
        except (MisfitError, CodecError) as error:
            raise TypeError(f"Tool {tool} returned what is not of its output type: {error}") from error
        return ToolResult(content=(TextContent(text=print_json(content)),), structured_content=content)


def read_answers(tool: str, returns: Any, output: Any, shadows: Shadows) -> Answers:
    """How a function answers.

    Args:
        returns: what it is annotated to return.
        output: what its results are made of, whatever the annotation says; None to go by that.

    Raises:
        ToolDefinitionError: JSON cannot carry it, or it is now text and now something structured.
    """
    if output is not None:
        return _structured(tool, output, shadows)
    if returns is NoneType:
        return Effect()
    arms = [arm for arm in _arms(returns) if arm is not ToolResult]
    told = [arm for arm in arms if _is_told(arm)]
    if len(told) == len([arm for arm in arms if arm is not NoneType]):
        return Plain()
    if told:
        raise ToolDefinitionError(
            tool,
            "it returns now text or content, and now something structured: return one of them, or say output=",
        )
    hint = arms[0] if len(arms) == 1 else Union[tuple(arms)]  # noqa: UP007  (of what is only known now)
    return _structured(tool, hint, shadows)


def _structured(tool: str, hint: Any, shadows: Shadows) -> Structured:
    try:
        type_ = JsonType(hint, shadows, "serialization")
        return Structured(freeze(schema_of(type_, "serialization")), type_)
    except (UnsupportedTypeError, CodecError) as error:
        raise ToolDefinitionError(tool, f"what it returns: {error}") from None


def _arms(hint: Any) -> list[Any]:
    """The members of a union; of anything else, that."""
    if get_origin(hint) in (Union, UnionType):
        return [one for arm in get_args(hint) for one in _arms(arm)]
    return [hint]


def _is_told(hint: Any) -> bool:
    """Whether it is text or content, which need no schema."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _is_told(parts[0])
    if origin is Literal:
        return all(isinstance(part, str) for part in parts)
    if origin in (list, tuple, Sequence):
        return all(part is ... or all(arm in _BLOCKS for arm in _arms(part)) for part in parts)
    return hint in _PLAIN or hint in _BLOCKS or (isinstance(hint, type) and issubclass(hint, str))
