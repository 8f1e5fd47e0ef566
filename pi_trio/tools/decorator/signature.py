"""Reads a function: which parameters the model gives, which one is the context, and what comes back.

Type hints are resolved here, with a refusal that names the parameter where one cannot be. Nothing is made of them yet.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import FunctionType, NoneType
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import attrs

from ...errors import PiTrioError
from ..context import ToolContext

EMPTY: Final = inspect.Parameter.empty


class ToolDefinitionError(PiTrioError, TypeError):
    """A function cannot be a tool as it stands. Raised where it is decorated; the text says what and why."""

    def __init__(self, tool: str, problem: str) -> None:
        super().__init__(tool, problem)  # as they came, so that it can be pickled

    def __str__(self) -> str:
        tool, problem = self.args
        return f"tool {tool}: {problem}"


@attrs.frozen(kw_only=True)
class Signature:
    """A function as a tool sees it.

    Attributes:
        python: without the `self` of a method.
        parameters: what the model gives, by name.
        rest: the name of `**kwargs`, if it has them.
        hints: the resolved hints of `parameters`; those without one are not in it.
        context: the name of the parameter that gets the context, if there is one.
        deps: what that parameter says of its deps; None where it says nothing.
        returns: the hint of what it returns, awaited; `EMPTY` where there is none.
        is_async: whether what it returns is to be awaited, so that it is called in trio's thread: it is a coroutine
            function, or is wrapped around one, or its hint says so.
        is_method: whether it must be bound to an instance before it can be called.
        taken: the names that no argument can have: of the context, and of the instance.
    """

    python: inspect.Signature
    parameters: Mapping[str, inspect.Parameter]
    rest: str | None
    hints: Mapping[str, Any]
    context: str | None
    deps: Any
    returns: Any
    is_async: bool
    is_method: bool
    taken: frozenset[str]

    def takes(self, name: str) -> bool:
        """Whether an argument can have this name."""
        return name in self.parameters or (self.rest is not None and name not in self.taken)


def read_signature(function: Callable[..., Any], tool: str) -> Signature:
    """Read a function or bound method.

    Raises:
        ToolDefinitionError: it cannot be a tool.
    """
    try:
        inspect.unwrap(function)  # which may find a circle
        whole = inspect.signature(function)
    except (ValueError, TypeError) as error:
        raise ToolDefinitionError(tool, f"its parameters cannot be read: {error}") from None
    hints = _resolved_hints(function, tool)
    is_method = next(iter(whole.parameters), None) == "self"  # which a bound method does not show
    given = dict(list(whole.parameters.items())[is_method:])
    contexts = [
        name
        for name, one in given.items()
        if _is_context(hints.get(name)) and one.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    if len(contexts) > 1:
        raise ToolDefinitionError(tool, f"{' and '.join(contexts)} are both a ToolContext; a call has one")
    context = contexts[0] if contexts else None
    rest: str | None = None
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in given.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise ToolDefinitionError(
                tool, f"*{name} has no place in a call, where every argument has a name"
            )
        if name == context:
            continue
        if _mentions(hints.get(name), _is_context):
            raise ToolDefinitionError(
                tool, f"parameter {name}: a ToolContext is injected, so it stands alone"
            )
        if _mentions(hints.get(name), _is_kind_of_context):
            raise ToolDefinitionError(
                tool, f"parameter {name}: what is injected is a ToolContext, and of none of its subclasses"
            )
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            rest = name
        else:
            parameters[name] = parameter
    deps = get_args(_bare(hints[context])) if context else ()
    return Signature(
        python=whole.replace(parameters=list(given.values())),
        parameters=parameters,
        rest=rest,
        hints={name: hints[name] for name in parameters if name in hints},
        context=context,
        deps=deps[0] if deps else None,
        returns=_awaited(hints.get("return", EMPTY)),
        is_async=_is_async(function) or _can_be_awaited(hints.get("return", EMPTY)),
        is_method=is_method,
        taken=_taken(function, context, has_instance=is_method or inspect.ismethod(function)),
    )


def _taken(function: Callable[..., Any], context: str | None, *, has_instance: bool) -> frozenset[str]:
    # The signature of a bound method does not show its first parameter, which takes its name all the same.
    whole = inspect.signature(getattr(function, "__func__", function)).parameters
    filled = {context, next(iter(whole))} if has_instance else {context}
    by_place = inspect.Parameter.POSITIONAL_ONLY
    return frozenset(name for name in whole if name in filled and whole[name].kind is not by_place)


def _resolved_hints(function: Callable[..., Any], tool: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception as error:
        for name, hint in inspect.get_annotations(function).items():
            problem = _why_unresolved(function, name, hint)
            if problem is not None:
                place = "what it returns" if name == "return" else f"parameter {name}"
                raise ToolDefinitionError(tool, f"{place}: {problem}") from None
        raise ToolDefinitionError(tool, f"its type hints cannot be resolved: {error}") from None


def _why_unresolved(function: Callable[..., Any], name: str, hint: Any) -> str | None:
    alone = FunctionType((lambda: None).__code__, getattr(inspect.unwrap(function), "__globals__", {}))
    alone.__annotations__ = {name: hint}
    try:
        get_type_hints(alone, include_extras=True)
    except NameError as error:
        return (
            f"the type hint {hint!r} cannot be resolved ({error}). Hints are looked up in the module: what is defined"
            " in a function, or imported for type checkers alone, is not found there"
        )
    except Exception as error:
        return f"the type hint {hint!r} cannot be resolved: {error}"
    return None


def _bare(hint: Any) -> Any:
    """A hint without `Annotated`."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _is_context(hint: Any) -> bool:
    hint = _bare(hint)
    return hint is ToolContext or get_origin(hint) is ToolContext


def _is_kind_of_context(hint: Any) -> bool:
    hint = get_origin(hint) or hint
    return isinstance(hint, type) and issubclass(hint, ToolContext)


def _mentions(hint: Any, what: Callable[[Any], bool]) -> bool:
    return what(hint) or any(_mentions(part, what) for part in get_args(hint))


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(inspect.unwrap(function))


def _can_be_awaited(hint: Any) -> bool:
    hint = _bare(hint)
    return (get_origin(hint) or hint) in (Awaitable, Coroutine)


def _awaited(hint: Any) -> Any:
    """What awaiting a plain function's answer gives, if that is what it returns; `None` as its type."""
    if _can_be_awaited(hint):
        hint = next(reversed(get_args(_bare(hint))), EMPTY)
    return NoneType if hint is None else hint
