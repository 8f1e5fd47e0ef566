"""`@tool`: a function as a tool.

    @tool
    async def forecast(context: ToolContext[Weather], city: str, days: Annotated[int, Field(ge=1, le=7)] = 3) -> str:
        \"\"\"Tell the weather.

        Args:
            city: where, in English.
            days: for how many days.
        \"\"\"
        await context.progress(f"asking for {city}")
        return await context.deps.forecast(city, days)

**What the model is told** comes from the function: its name, its docstring, its type hints. **What it gets** are values
of those types. **What it returns** is told to the model; a dataclass, say, as JSON with a schema
(`decorator/answers.py`). A decorated function is a `Tool` for agents, and for everybody else still the function.

A coroutine function runs in the task of its call, and so does one that is annotated to return an `Awaitable`. Any
other runs in a worker thread, and a call that is cancelled waits for it: only the function itself can end early, by way
of `ToolContext.check`.

This needs the extra `tools` (pydantic and docstring_parser), which is imported when the first function is decorated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import MethodType, NoneType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, get_args, overload

import attrs
import trio

from ..abort import AbortSignal
from ..jsonvalue import JSON
from ..messages import ToolResult
from .context import ToolContext
from .threads import run_in_worker
from .tool import OWN_CALL, ExecuteFn, ExecutionMode, Tool, UpdateFn

if TYPE_CHECKING:
    from .decorator.definition import Definition

#: What a tool is made of, a function of some kind. Covariant and without a bound, so that what several tools have in
#: common is a tool for type checkers, too.
F = TypeVar("F", covariant=True)  # noqa: PLC0105
P = ParamSpec("P")
R = TypeVar("R")
Instance = TypeVar("Instance")


class _Docstring:
    """The docstring of a class, and of each of its instances the one of its function."""

    def __init__(self, own: str | None) -> None:
        self._own = own

    def __get__(self, instance: FunctionTool[Any] | None, owner: type) -> str | None:
        return self._own if instance is None else instance.function.__doc__


@attrs.frozen(kw_only=True, eq=False)
class FunctionTool(Tool, Generic[F]):
    """A function that is a tool. Calling it calls the function, in the caller's task and thread, unchecked.

    In a class it is a method: taken from an instance, it is a tool with that instance. `attrs.evolve` makes variants,
    with another name or description, say.

    Attributes:
        function: the function.
        definition: what was read from it.
        abandon_on_cancel, limiter: see `tool`.
    """

    if not TYPE_CHECKING:
        __doc__ = _Docstring(__doc__)

    function: F
    definition: Definition = attrs.field(repr=False)
    abandon_on_cancel: bool = False
    limiter: trio.CapacityLimiter | None = None
    execute: ExecuteFn = attrs.field(init=False, repr=False, default=OWN_CALL)

    def __call__(self: FunctionTool[Callable[P, R]], *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(
        self: FunctionTool[Callable[Concatenate[Instance, P], R]], instance: Instance, owner: type
    ) -> FunctionTool[Callable[P, R]]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Self: ...  # as what a static method is taken for

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None or not self._unbound:
            return self
        changes: Any = {"function": MethodType(self._code, instance)}
        return attrs.evolve(self, **changes)

    def __eq__(self, other: object) -> bool:
        """As methods are: taken from the same instance twice, it is equal."""
        if not isinstance(other, FunctionTool):
            return NotImplemented
        return self is other or (self.function == other.function and self._rest() == other._rest())

    def __hash__(self) -> int:
        return hash((self.function, self.name))

    def _rest(self) -> list[int]:
        """Which objects it has besides its function."""
        own = ("function", "execute")
        return [id(getattr(self, one.name)) for one in attrs.fields(type(self)) if one.name not in own]

    @property
    def __name__(self) -> str:
        """The function's, for nurseries and the like."""
        return getattr(self.function, "__name__", self.name)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "__qualname__":  # which a class body cannot define
                return getattr(self.function, name, self.name)
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
            )

    @property
    def __isabstractmethod__(self) -> bool:
        """Whether a class that has it is abstract: `@tool` stands above `@abstractmethod`."""
        return getattr(self.function, "__isabstractmethod__", False)

    @property
    def __wrapped__(self) -> F:
        """The function; `inspect.signature` and the like look for it here."""
        return self.function

    @property
    def _code(self) -> Any:
        return self.function

    @property
    def _unbound(self) -> bool:
        return self.definition.signature.is_method and not inspect.ismethod(self.function)

    async def call(
        self, call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn, deps: Any = None
    ) -> ToolResult | None:
        """Call the function with the arguments that the model gave. Its exceptions are raised as they are.

        Raises:
            InvalidArguments: the arguments do not become what the function takes; the text is for the model.
            TypeError: the function returned what cannot be a result, or lacks its deps or its instance.
        """
        self._check_ready(deps)
        context = ToolContext(
            deps=deps, call_id=call_id, tool_name=self.name, signal=signal, on_update=on_update
        )
        bound = self.definition.arguments.bind(self.name, args, context)
        ready = partial(self._code, *bound.args, **bound.kwargs)
        try:
            if self.definition.signature.is_async:
                answer: Any = ready()
                answer = await answer if inspect.isawaitable(answer) else answer
            else:
                answer = await self._in_thread(ready, context)
        finally:
            context._close()
        return self.definition.answers.result(self.name, answer)

    async def _in_thread(self, ready: Callable[[], R], context: ToolContext[Any]) -> R:
        def work() -> R:
            with context._in_worker():
                return ready()

        return await run_in_worker(work, self.name, self.limiter, abandon=self.abandon_on_cancel)

    def _check_ready(self, deps: Any) -> None:
        if self._unbound:
            raise TypeError(f"Tool {self.name} is a method: take it from an instance")
        wanted = self.definition.signature.deps
        if deps is None and isinstance(wanted, type) and wanted not in (Any, object, NoneType):
            raise TypeError(f"Tool {self.name} needs deps of type {wanted.__name__}, and its agent has none")


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[Callable[P, R]]: ...


@overload
def tool(
    *,
    name: str | None = None,
    label: str = "",
    description: str | None = None,
    parameters: Mapping[str, JSON] | None = None,
    output: Any = None,
    execution_mode: ExecutionMode | None = None,
    abandon_on_cancel: bool = False,
    limiter: trio.CapacityLimiter | None = None,
) -> Callable[[Callable[P, R]], FunctionTool[Callable[P, R]]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    label: str = "",
    description: str | None = None,
    parameters: Mapping[str, JSON] | None = None,
    output: Any = None,
    execution_mode: ExecutionMode | None = None,
    abandon_on_cancel: bool = False,
    limiter: trio.CapacityLimiter | None = None,
) -> Any:
    """Make a tool of a function or method: `@tool`, `@tool(name="other")`, or `tool(database.find)`.

    Every parameter has a type hint: what pydantic takes (dataclasses, models, enumerations, dates, tuples, …), or an
    attrs class. A default makes it optional. A text or a `Field` in `Annotated` describes or constrains it; else the
    docstring describes it, in Google's, numpy's or Sphinx's style. A parameter annotated `ToolContext` gets the
    call's context. In a class, the first parameter of a method is called `self`; an `@abstractmethod` stands
    below `@tool`.

    Arguments that are not of their types make an error result, which the model reads; so does an exception.

    Args:
        name: what the model calls it by; the function's name by default.
        label: for people.
        description: told to the model; by default the docstring, without its sections. Without a docstring it is empty,
            and the model has nothing but the name to go by.
        parameters: the JSON Schema of the arguments, in place of one made from the hints. Parameters without a hint,
            and `**kwargs`, then take JSON as it is.
        output: a type that the results are made of, where the return annotation does not say it.
        execution_mode: "sequential" makes every batch with a call to this tool sequential.
        abandon_on_cancel: for a plain function. When its call is cancelled, the thread is left behind instead of waited
            for. It goes on to its end, or to its next `ToolContext.check`: what it does in the meantime is done, what
            it returns or raises is lost, its progress is dropped, and its place in the limiter stays taken. At the end
            of the program it is killed where it stands.
        limiter: for a plain function: bounds how many run at once. By default all tools share one
            (`current_tool_thread_limiter`). A function that waits for trio (a run of another agent, say) keeps its
            place meanwhile; if others below it need one, too, all places may be taken by those who wait. So let it be a
            coroutine function, or give it a limiter of its own.

    Raises:
        ToolDefinitionError: the function cannot be a tool as it stands; the text says which parameter and why.
        ImportError: the extra `tools` is not installed.
    """

    def decorate(function: Callable[..., Any]) -> FunctionTool[Callable[..., Any]]:
        define = _import_define()
        from .decorator.signature import ToolDefinitionError

        known_as = name if name is not None else getattr(function, "__name__", "")
        if not inspect.isroutine(function) or isinstance(function, (staticmethod, classmethod)):
            kind = type(function).__name__
            raise ToolDefinitionError(known_as or kind, f"a function or method was expected, not a {kind}")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise ToolDefinitionError(
                known_as, "a generator has no result: report progress with a ToolContext"
            )
        for option, value, kinds in (
            ("name", name, (str, NoneType)),
            ("label", label, str),
            ("description", description, (str, NoneType)),
            ("abandon_on_cancel", abandon_on_cancel, bool),
            ("limiter", limiter, (trio.CapacityLimiter, NoneType)),
        ):
            if not isinstance(value, kinds):
                raise ToolDefinitionError(str(known_as), f"{option} cannot be {value!r}")
        if not known_as:
            raise ToolDefinitionError("without a name", "the model has to call it something")
        if execution_mode not in (None, *get_args(ExecutionMode)):
            raise ToolDefinitionError(known_as, f"execution_mode cannot be {execution_mode!r}")
        definition = define(function, known_as, parameters=parameters, output=output)
        if definition.signature.is_async and (abandon_on_cancel or limiter is not None):
            raise ToolDefinitionError(
                known_as, "abandon_on_cancel and limiter are for threads, and this is async"
            )
        return FunctionTool(
            name=known_as,
            label=label,
            description=definition.description if description is None else description,
            parameters=definition.parameters,
            output_schema=definition.answers.schema,
            execution_mode=execution_mode,
            function=function,
            definition=definition,
            abandon_on_cancel=abandon_on_cancel,
            limiter=limiter,
        )

    return decorate if function is None else decorate(function)


def _import_define() -> Callable[..., Definition]:
    try:
        from .decorator.definition import define
    except ModuleNotFoundError as error:
        raise ImportError(
            f"@tool needs more than the runtime does ({error.name}): pip install 'pi_trio[tools]'"
        ) from error
    return define
