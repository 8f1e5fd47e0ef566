"""What the runtime offers to a tester: its targets, the hooks of each in a profile, and the options."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from ...profile import Profile
from ..protocol import Object
from .asks import DriverError
from .fields import object_of, option, strings

#: What a conversation is with: an `Agent`, or the loop alone.
Target: TypeAlias = Literal["agent", "loop"]

TARGETS: Final[tuple[Target, ...]] = ("agent", "loop")

#: The hooks that a tester may install, by the names that the protocol gives them.
HOOKS: Final = {
    "convertToLlm": "convert_to_llm",
    "transformContext": "transform_context",
    "getApiKey": "get_api_key",
    "beforeToolCall": "before_tool_call",
    "afterToolCall": "after_tool_call",
    "prepareNextTurn": "prepare_next_turn",
    "prepareNextTurnWithContext": "prepare_next_turn_with_context",
    "prepareRequest": "prepare_request",
    "finishTurn": "finish_turn",
    "shouldStopAfterTurn": "should_stop_after_turn",
}

#: The options that `create` may name, by what an `Agent` calls them.
OPTIONS: Final = {
    "steeringMode": "steering_mode",
    "followUpMode": "follow_up_mode",
    "toolExecution": "tool_execution",
    "sessionId": "session_id",
    "thinkingBudgets": "thinking_budgets",
    "transport": "transport",
    "maxRetryDelayMs": "max_retry_delay_ms",
    "identity": "identity",
    "abortMode": "abort_mode",
}

#: The options that only an agent has.
_OF_AGENT: Final = frozenset({"steeringMode", "followUpMode"})


def offered_hooks(profile: Profile, target: Target = "agent") -> list[str]:
    """The hooks that this profile can call at that target."""
    absent = set[str]()
    if target == "loop" or not profile.prepare_next_turn_with_context:
        absent.add("prepareNextTurnWithContext")  # the loop's prepareNextTurn is the one with the context
    if not profile.prepare_request:
        absent.add("prepareRequest")
    if profile.stop_hook != "finish_turn":
        absent.add("finishTurn")
    if profile.stop_hook == "finish_turn" or (profile.stop_hook == "low_level" and target == "agent"):
        absent.add("shouldStopAfterTurn")
    return [name for name in HOOKS if name not in absent]


def wanted_hooks(profile: Profile, target: Target, create: Object) -> list[str]:
    """The hooks that a `create` wants installed.

    Raises:
        DriverError: one of them is not offered.
    """
    offered = offered_hooks(profile, target)
    wanted = strings(create, "hooks")
    if missing := [name for name in wanted if name not in offered]:
        raise DriverError(f"{profile.name} has no hook {', '.join(missing)} for target {target}")
    return wanted


def _offered(profile: Profile, target: Target) -> list[str]:
    """The options that `create` may name at that target."""
    absent = set[str]() if profile.identity else {"identity"}
    if target == "loop":
        absent |= _OF_AGENT
    return [name for name in OPTIONS if name not in absent]


def chosen_options(profile: Profile, target: Target, create: Object) -> Object:
    """The options that a `create` sets, under the runtime's names for them.

    Raises:
        DriverError: one of them is not offered, or has a value that it cannot have.
    """
    given = object_of(create.get("options", {}))
    offered = _offered(profile, target)
    if unknown := [name for name in given if name not in offered]:
        raise DriverError(f"{profile.name} has no option {', '.join(unknown)} for target {target}")
    return {OPTIONS[name]: option(given, name) for name in given}


def settable_options(profile: Profile) -> list[str]:
    """The names that `setOption` may have."""
    prompt = [] if profile.system_messages else ["systemPrompt"]
    return ["steeringMode", "followUpMode", "toolExecution", "model", "thinkingLevel", *prompt]


def options(profile: Profile) -> dict[str, list[str]]:
    """What `hello.features` says of them."""
    return {
        "options": [name for name in _offered(profile, "agent") if name != "abortMode"],
        "settable": settable_options(profile),
    }


def targets(profile: Profile) -> dict[str, list[str]]:
    """What `hello.features` says of them: the targets, and the loop's hooks where they do not follow from the
    agent's.
    """
    of_agent, of_loop = offered_hooks(profile), offered_hooks(profile, "loop")
    offered = {"targets": list[str](TARGETS)}
    if of_loop != [name for name in of_agent if name != "prepareNextTurnWithContext"]:
        offered["loopHooks"] = of_loop
    return offered
