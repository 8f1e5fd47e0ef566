"""One batch of tool calls: preparation one after the other, then each call on a strand of its own."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from .stages import Box

if TYPE_CHECKING:
    from .agent import Agent

Object = dict[str, Any]

ABORTED = "Operation aborted"


class Outcome:
    """What came of a call."""

    def __init__(self, call: Object, result: Object, *, error: bool, began: float | None = None) -> None:
        self.call, self.result, self.error = call, result, error
        self.duration = {} if began is None else {"durationMs": int((time.monotonic() - began) * 1000)}


def _failed(call: Object, text: str, **fields: Any) -> Outcome:
    return Outcome(call, {"content": [{"type": "text", "text": text}], "details": {}, **fields}, error=True)


class Batch:
    def __init__(self, agent: Agent, answer: Object, context: list[Object]) -> None:
        self._agent = agent
        self._answer = answer
        self._context = context
        self._calls = [block for block in answer["content"] if block["type"] == "toolCall"]
        self._lock = threading.Lock()

    def run(self) -> tuple[list[Object], bool]:
        """The result messages, and whether the model has to be asked again because of them."""
        if not self._calls:
            return [], False
        if self._answer["stopReason"] == "length":
            return self._truncated(), True
        sequential = self._agent.tool_execution == "sequential" or any(
            (self._tool(call) or {}).get("executionMode") == "sequential" for call in self._calls
        )
        outcomes, results = self._one_by_one() if sequential else self._side_by_side()
        return results, not all(outcome.result.get("terminate") is True for outcome in outcomes)

    def _one_by_one(self) -> tuple[list[Outcome], list[Object]]:
        outcomes: list[Outcome] = []
        results: list[Object] = []
        for call in self._calls:
            prepared = self._prepare(call)
            outcomes.append(prepared if isinstance(prepared, Outcome) else self._execute(call, prepared))
            self._end(outcomes[-1])
            results.append(self._say_result(outcomes[-1]))
        return outcomes, results

    def _side_by_side(self) -> tuple[list[Outcome], list[Object]]:
        outcomes: list[Any] = []
        for call in self._calls:
            outcomes.append(self._prepare(call))
            if isinstance(outcomes[-1], Outcome):
                self._end(outcomes[-1])
        launched = [n for n, prepared in enumerate(outcomes) if not isinstance(prepared, Outcome)]
        done = Box()
        left = len(launched)

        def live(number: int) -> None:
            nonlocal left
            failure: Exception | None = None
            try:
                call, arguments = self._calls[number], outcomes[number]
                aborted = self._agent.aborted
                outcomes[number] = _failed(call, ABORTED) if aborted else self._execute(call, arguments)
                self._end(outcomes[number])
            except Exception as error:
                failure = error
            with self._lock:
                left -= 1
                over = not done.filled and (left == 0 or failure is not None)
            if over:
                self._agent.host.stage.fill(done, failure)

        for number in launched:
            self._agent.host.stage.start(lambda number=number: live(number))  # type: ignore[misc]
        if launched and (failure := self._agent.host.stage.wait(done)) is not None:
            raise failure
        return outcomes, [self._say_result(outcome) for outcome in outcomes]

    def _truncated(self) -> list[Object]:
        results: list[Object] = []
        for call in self._calls:
            self._start(call)
            text = (
                f'Tool call "{call["name"]}" was not executed: the response hit the output token limit, so its '
                "arguments may be truncated. Re-issue the tool call with complete arguments."
            )
            outcome = _failed(call, text)
            self._end(outcome)
            results.append(self._say_result(outcome))
        return results

    # One call.

    def _tool(self, call: Object) -> Object | None:
        return next((tool for tool in self._agent.tools if tool["name"] == call["name"]), None)

    def _start(self, call: Object) -> None:
        fields = {"toolCallId": call["id"], "toolName": call["name"], "args": call["arguments"]}
        self._agent.emit("tool_execution_start", **fields)

    def _prepare(self, call: Object) -> Outcome | Object:
        """The arguments that the tool will get, or why it must not run."""
        self._start(call)
        if self._agent.aborted:
            return _failed(call, ABORTED)
        if self._tool(call) is None:
            return _failed(call, f"Tool {call['name']} not found")
        arguments: Object = dict(call["arguments"])
        if "beforeToolCall" not in self._agent.hooks:
            return arguments
        try:
            decision = self._ask("beforeToolCall", call, arguments) or {}
        except Exception as error:
            return _failed(call, str(error))
        if self._agent.aborted:
            return _failed(call, ABORTED)
        if decision.get("block"):
            terminate = {"terminate": True} if decision.get("terminate") is True else {}
            return _failed(call, decision.get("reason") or "Tool execution was blocked", **terminate)
        changed: Object = decision.get("args", arguments)
        return changed

    def _execute(self, call: Object, arguments: Object) -> Outcome:
        deliveries = Deliveries(self._agent, call)
        began = time.monotonic()
        args = {"tool": call["name"], "toolCallId": call["id"], "args": arguments}
        try:
            result = self._agent.host.ask("execute", args, call["id"], on_update=deliveries.begin)
            if result is None:
                raise TypeError("nothing returned")
            outcome = Outcome(call, result, error=result.get("isError") is True, began=began)
        except Exception as error:
            outcome = _failed(call, str(error))
            outcome.duration = {"durationMs": 0}
        deliveries.join()
        return self._finalise(outcome, arguments)

    def _finalise(self, outcome: Outcome, arguments: Object) -> Outcome:
        if "afterToolCall" not in self._agent.hooks:
            return outcome
        more = {"result": outcome.result, "isError": outcome.error}
        try:
            change = self._ask("afterToolCall", outcome.call, arguments, **more) or {}
        except Exception as error:
            failed = _failed(outcome.call, str(error))
            failed.duration = outcome.duration
            return failed
        fields = ("content", "details", "terminate", "usage", "structuredContent", "isError")
        given = {name: change[name] for name in fields if change.get(name) is not None}
        if "isError" in given:
            outcome.error = given.pop("isError")
        old = dict(outcome.result)
        if "content" in given:
            old.pop("structuredContent", None)
        outcome.result = {**old, **given}
        return outcome

    def _ask(self, fn: str, call: Object, arguments: Object, **more: Any) -> Any:
        context = {"messages": list(self._context), "tools": self._agent.declarations()}
        args = {
            "assistantMessage": self._answer, "toolCall": call, "args": dict(arguments), "context": context, **more,
        }  # fmt: skip
        return self._agent.host.ask(fn, args, call["id"])

    def _end(self, outcome: Outcome) -> None:
        self._agent.emit(
            "tool_execution_end", toolCallId=outcome.call["id"], toolName=outcome.call["name"],
            result=outcome.result, isError=outcome.error, **outcome.duration,
        )  # fmt: skip

    def _say_result(self, outcome: Outcome) -> Object:
        carried: Object = {
            name: outcome.result[name] for name in ("details", "usage") if name in outcome.result
        }
        message: Object = {
            "role": "toolResult", "toolCallId": outcome.call["id"], "toolName": outcome.call["name"],
            "content": outcome.result.get("content", []), **carried, "isError": outcome.error, **outcome.duration,
            "timestamp": int(time.time() * 1000),
        }  # fmt: skip
        self._agent.emit("message_start", message=message)
        self._agent.emit("message_end", message=message)
        return message


class Deliveries:
    """The updates of one call on their way to the listeners. They may overlap, and end before the call does."""

    def __init__(self, agent: Agent, call: Object) -> None:
        self._agent, self._call = agent, call
        self._over = False
        self._begun: list[Box] = []

    def begin(self, partial: Any) -> None:
        if self._over:
            return
        done = Box()
        self._begun.append(done)

        def deliver() -> None:
            call, failure = self._call, None
            try:
                self._agent.emit(
                    "tool_execution_update", toolCallId=call["id"], toolName=call["name"], args=call["arguments"],
                    partialResult=partial,
                )  # fmt: skip
            except Exception as error:
                failure = error
            self._agent.host.stage.fill(done, failure)

        self._agent.host.stage.start(deliver)

    def join(self) -> None:
        self._over = True
        for done in self._begun:
            if (failure := self._agent.host.stage.wait(done)) is not None:
                raise failure
