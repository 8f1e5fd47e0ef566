"""A question to the functions of a real pi-ai (`core.mjs`) and to ours: what is asked, and the answer as JSON.

A question is a name and JSON arguments, as Pi's function takes them. `ANSWERS` holds what answers it here.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import trio
import trio.testing

from pi_trio.abort import AbortController
from pi_trio.codec import structure, unstructure
from pi_trio.conformance.subjects.pi_releases import PiInstall
from pi_trio.jsonvalue import thaw
from pi_trio.messages import AssistantMessage, Message, Model, SystemMessage, ToolDeclaration, Usage
from pi_trio.models import transcript
from pi_trio.models.cost import calculate_cost
from pi_trio.models.dialect import Dialect, dialect_of
from pi_trio.models.environment_keys import env_api_key, find_env_keys
from pi_trio.models.estimate import estimate_context
from pi_trio.models.limits import base_options
from pi_trio.models.overflow import is_context_overflow, is_recoverable_length
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.retrying import (
    RetryCallbacks,
    RetryPolicy,
    is_retryable,
    retry_assistant_call,
    retry_delay_ms,
)
from pi_trio.models.stream import ModelContext
from pi_trio.models.thinking import clamp_thinking_level, limits_with_thinking, supported_thinking_levels

SCRIPT = Path(__file__).with_name("core.mjs")

Question: TypeAlias = tuple[str, Sequence[Any]]


@attrs.frozen
class Comparison:
    """A question and both answers."""

    question: Question
    ours: Any
    theirs: Any

    @property
    def equal(self) -> bool:
        return bool(self.ours == self.theirs)


def theirs(pi: PiInstall, questions: Sequence[Question]) -> list[Any]:
    """The answers of a release."""
    asked = "".join(f"{json.dumps({'ask': name, 'with': given})}\n" for name, given in questions)
    command = [str(pi.node.path), str(SCRIPT), str(pi.folder)]
    done = subprocess.run(
        command, input=asked, text=True, encoding="utf-8", capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    assert len(answers) == len(questions)
    return [answer.get("value", answer) for answer in answers]


def compared(pi: PiInstall, questions: Sequence[Question]) -> list[Comparison]:
    """All questions with both answers."""
    dialect = dialect_of(pi.release)
    return [
        Comparison((name, given), ANSWERS[name](dialect, *given), answer)
        for (name, given), answer in zip(questions, theirs(pi, questions), strict=True)
    ]


def model_of(value: Any) -> Model:
    return structure(value, Model)


@cache
def message_type() -> Any:
    return Message


def messages_of(values: Sequence[Any]) -> tuple[Message, ...]:
    return tuple(structure(value, message_type()) for value in values)


def context_of(value: Mapping[str, Any]) -> ModelContext:
    tools = value.get("tools")
    return ModelContext(
        messages=messages_of(value["messages"]),
        system_prompt=value.get("systemPrompt"),
        tools=None if tools is None else tuple(structure(tool, ToolDeclaration) for tool in tools),
    )


def response_of(value: Any) -> AssistantMessage:
    return structure(value, AssistantMessage)


def plain(value: Any) -> Any:
    """A value of ours as JSON, in plain dicts and lists."""
    return json.loads(json.dumps(thaw(unstructure(value))))


def _cost(dialect: Dialect, model: Any, usage: Any) -> Any:
    return plain(calculate_cost(model_of(model), structure(usage, Usage), dialect))


def _limits(dialect: Dialect, limit: int | None, most: int, level: str, budgets: Any) -> Any:
    del dialect
    max_tokens, budget = limits_with_thinking(limit, most, level, budgets)
    return {"maxTokens": max_tokens, "thinkingBudget": budget}


def _options(dialect: Dialect, model: Any, context: Any, given: Mapping[str, Any]) -> Any:
    options = ProviderOptions(
        max_tokens=given.get("maxTokens"),
        reasoning=given.get("reasoning"),
        sampling_params=given.get("samplingParams"),
        temperature=given.get("temperature"),
        dialect=dialect,
    )
    made = base_options(model_of(model), context_of(context), options)
    found = {
        "maxTokens": made.max_tokens,
        "samplingParams": None if made.sampling_params is None else dict(made.sampling_params),
        "temperature": made.temperature,
    }
    return {name: value for name, value in found.items() if value is not None}


def _estimate(dialect: Dialect, context: Any) -> Any:
    found = estimate_context(context_of(context), dialect)
    return {
        "tokens": found.tokens,
        "usageTokens": found.usage_tokens,
        "trailingTokens": found.trailing_tokens,
        "lastUsageIndex": found.last_usage_index,
    }


def _policy(value: Mapping[str, Any]) -> RetryPolicy:
    return RetryPolicy(
        enabled=value["enabled"],
        max_retries=value["maxRetries"],
        base_delay_ms=value["baseDelayMs"],
        max_agent_delay_ms=value.get("maxAgentDelayMs"),
    )


def _retrying(
    dialect: Dialect, answers: Sequence[Any], policy: Mapping[str, Any] | None, aborted: bool
) -> Any:
    told: list[Any] = []
    left = list(answers)

    def tell(name: str) -> Callable[..., None]:
        return lambda *said: told.append([name, *said])

    async def produce() -> AssistantMessage:
        await trio.lowlevel.checkpoint()
        return response_of(left.pop(0))

    callbacks = RetryCallbacks(
        on_retry_scheduled=tell("scheduled"),
        on_retry_attempt_start=tell("start"),
        on_retry_finished=tell("finished"),
    )
    chosen = None if policy is None else _policy(policy)
    abort = AbortController()
    if aborted:
        abort.abort()
    run = partial(retry_assistant_call, produce, chosen, abort.signal, callbacks, dialect)
    last = trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
    # A callback that Pi calls without its last argument is called here with None.
    shortened = [said[:-1] if said[0] == "finished" and said[-1] is None else said for said in told]
    return {"told": shortened, "last": plain(last), "left": len(left)}


def _normalise(dialect: Dialect, context: Any) -> Any:
    del dialect
    return {"messages": plain(transcript.normalise_context(context_of(context)).messages)}


def _tools(values: Sequence[Any]) -> list[ToolDeclaration]:
    return [structure(value, ToolDeclaration) for value in values]


def _changes(dialect: Dialect, before: Sequence[Any], after: Sequence[Any]) -> Any:
    del dialect
    added, removed = transcript.tool_changes(_tools(before), _tools(after))
    return {"toolsAdded": plain(added), "toolsRemoved": plain(removed)}


def _place(dialect: Dialect, messages: Sequence[Any], support: Any) -> Any:
    if isinstance(support, bool):
        support = "additions" if support else "none"
    placed = transcript.place_tools(messages_of(messages), support, dialect)
    return {"requestTools": plain(placed.request_tools), "folded": placed.folded}


ANSWERS: Mapping[str, Callable[..., Any]] = {
    "cost": _cost,
    "levels": lambda dialect, model: list(supported_thinking_levels(model_of(model), dialect)),
    "clamp": lambda dialect, model, level: clamp_thinking_level(model_of(model), level, dialect),
    "limits": _limits,
    "options": _options,
    "estimate": _estimate,
    "overflow": lambda dialect, message, window: is_context_overflow(response_of(message), window, dialect),
    "recoverable": lambda _, message, wanted: is_recoverable_length(response_of(message), wanted),
    "retryable": lambda dialect, message: is_retryable(response_of(message), dialect),
    "delay": lambda dialect, policy, attempt: retry_delay_ms(_policy(policy), attempt, dialect),
    "retrying": _retrying,
    "keys": lambda _, provider, env: [list(find_env_keys(provider, env)), env_api_key(provider, env)],
    "normalise": _normalise,
    "current": lambda _, messages: plain(transcript.current_system_message(messages_of(messages))),
    "prompt": lambda _, messages: transcript.current_system_prompt(messages_of(messages)),
    "tools": lambda _, messages: plain(list(transcript.current_tools(messages_of(messages)).values())),
    "update": lambda _, message: transcript.system_update_text(structure(message, SystemMessage)),
    "collapse": lambda _, messages: plain(transcript.collapse_system_messages(messages_of(messages))),
    "changes": _changes,
    "place": _place,
}
