"""Which release a subject behaves as that is like none, or is not complete yet."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pi_trio.conformance.fitting import Certainty
from pi_trio.conformance.keeper import Opener
from pi_trio.conformance.protocol import REQUIRED_COMMANDS, Object
from pi_trio.conformance.subject import Subject
from pi_trio.jsonvalue import thaw

from .asking import HELLO, NAMES, deviating, explained, fitted, odd_results, told


def test_who_deviates_otherwise_too_is_told_by_what_it_is_nearest_to() -> None:
    """All that has to do with tools looks different."""

    found = fitted(deviating("pi-1.6.0,durations=pi-1.0.3", odd_results), "text_", "tools_parallel")
    assert found.profile == "pi-1.6.0,durations=pi-1.0.3"
    assert told(found, "durations").told is Certainty.NEAREST
    assert told(found, "identity").told is Certainty.SHOWN


def test_what_is_as_in_no_release_is_unclear_with_a_scenario_to_look_at() -> None:
    """It only ever replies."""

    @asynccontextmanager
    async def mute() -> AsyncGenerator[Subject]:
        yield Mute()

    found = fitted(mute, "text_", "arguments")
    unclear = [finding.field for finding in found.unclear()]
    assert "identity" in unclear
    assert "argument_rules" in unclear
    assert all(finding.scenarios for finding in found.unclear())


class Mute:
    hello = HELLO

    async def request(self, command: Object) -> list[Object]:
        return [{"re": command["id"], "ok": None}]


def test_what_is_not_offered_is_named() -> None:
    commands = [name for name in HELLO["commands"] if name != "reset"]
    hooks = [name for name in HELLO["hooks"] if name != "afterToolCall"]
    found = fitted(deviating("pi-1.6.0", commands=commands, hooks=hooks))
    for field, need in [
        ("reset_refused_while_running", "command reset"),
        ("unnamed_result_fields_survive", "hook afterToolCall"),
    ]:
        finding = told(found, field)
        assert (finding.told, finding.releases) == (Certainty.NOT_OFFERED, tuple(NAMES))
        assert need in finding.missing
    assert (found.profile, found.unclear()) == ("pi-1.6.0", ())


def test_a_hook_that_some_releases_lack_is_told_by_its_absence_only_to_who_is_such_a_release() -> None:
    hooks = [name for name in HELLO["hooks"] if name != "prepareRequest"]
    found = fitted(deviating("pi-1.6.0", hooks=hooks))
    assert found.profile == "pi-1.6.0"
    assert told(found, "prepare_request").told is Certainty.NOT_OFFERED
    own = "pi-1.6.0,prepare_request=pi-0.85.0"
    found = fitted(deviating(own, hooks=hooks))
    assert found.profile == own
    assert told(found, "prepare_request").told is Certainty.SHOWN


def test_who_leaves_out_much_is_no_older_for_that() -> None:
    """Neither hooks nor the loop alone, as ports begin."""
    features = {**HELLO["features"], "targets": ["agent"]}
    commands = [name for name in HELLO["commands"] if name not in ("reset", "setMessages", "peekQueued")]
    found = fitted(deviating("pi-1.6.0", hooks=[], commands=commands, features=features))
    assert (found.base, found.profile, found.unclear()) == ("pi-1.6.0", "pi-1.6.0", ())
    assert told(found, "prepare_request").told is Certainty.NOT_OFFERED
    assert "loop_should_stop_after_turn" not in told(found, "stop_hook").scenarios
    explanation, _ = explained("pi-1.6.0", "pi-1.6.0,identity=pi-1.0.3", said={"hooks": []})
    assert explanation.profile == "pi-1.6.0,identity=pi-1.0.3"


def little(**said: Any) -> Opener:
    """A port that has just begun: it hands on what it is given, and has no hooks, no tools, and no identity. The prompt
    goes beside the messages, if there is one.
    """

    def change(message: Object) -> Object:
        message = thaw(message)
        context = message.get("args", {}).get("context", {})
        if context.get("messages", [{}])[0].get("role") == "system" and message.get("fn") == "streamFn":
            prompt = context["messages"].pop(0)["content"]
            if prompt:
                context["systemPrompt"] = prompt
        return message

    features = {"toolModes": [], "targets": ["agent"]}
    hello = {"commands": [*REQUIRED_COMMANDS], "hooks": [], "features": features, "profile": "pi-1.6.0"}
    return deviating(
        "pi-1.6.0,identity=pi-1.0.3,message_thinking_level=pi-0.85.0", change, **{**hello, **said}
    )


def test_what_is_only_left_out_shows_nothing_of_who_does_not_say_that_he_leaves_it_out() -> None:
    found = fitted(little())
    assert told(found, "identity").told is Certainty.LEFT_OUT
    assert told(found, "identity") in found.guesses()
    stop_hook = told(found, "stop_hook")
    assert (stop_hook.told, stop_hook.releases) == (Certainty.NOT_OFFERED, tuple(NAMES))
    assert "hook finishTurn" in stop_hook.missing
    assert "hook shouldStopAfterTurn" not in stop_hook.missing, "its own release has none either"
    # An empty prompt that is left out is as in 1.6.0, and one that is given is as in no release.
    assert told(found, "system_messages").told is not Certainty.SHOWN


def test_who_only_hands_on_what_he_is_given_is_asked_where_nothing_is_given() -> None:
    """It sends the identity that it was created with, and has none of its own."""

    def hands_on(message: Object) -> Object:
        message = thaw(message)
        options = message.get("args", {}).get("options", {})
        if (options.get("identity", {}).get("attribution") or {}).get("name") == "pi":
            del options["identity"]
        return message

    found = fitted(deviating("pi-1.6.0", hands_on), "text_", "request_identity")
    identity = told(found, "identity")
    assert (identity.told, identity.releases) == (Certainty.NEAREST, ("pi-1.6.0",))
    first, *_, last = identity.scenarios
    assert (first, last[:5]) == ("request_identity_replaced", "text_")
    assert (
        told(fitted(deviating("pi-1.6.0"), "text_", "request_identity"), "identity").told is Certainty.SHOWN
    )


def test_who_says_that_he_is_such_a_release_is_shown_to_be_by_what_he_leaves_out() -> None:
    found = fitted(deviating("pi-0.85.0"), "text_", "thinking_", "request_identity")
    for field in ("identity", "message_thinking_level"):
        assert told(found, field).told is Certainty.SHOWN
    assert found.guesses() == ()


def test_who_fails_much_is_told_by_what_comes_out_right() -> None:
    """As long as one of the two fields is wrong it does as under no value of the other, and scenarios with a system
    message or a level fail for other reasons; those that are about the fields do first of all.
    """

    def incomplete(message: Object) -> Object:
        message = thaw(message)
        args = message.get("args", {})
        args.get("options", {}).pop("reasoning", None)
        if "messages" in args.get("context", {}):
            args["context"]["messages"] = [
                each for each in args["context"]["messages"] if each["role"] != "system"
            ]
        return message

    name = "pi-1.6.0,identity=pi-1.0.3,message_thinking_level=pi-0.85.0"
    found = fitted(
        deviating(name, incomplete, profile="pi-1.6.0"),
        "text_",
        "thinking_",
        "initial_",
        "steer",
        "stream_end",
    )
    for field in ("identity", "message_thinking_level"):
        assert told(found, field).told is Certainty.LEFT_OUT, "who is 1.6.0 and not complete does the same"
        assert f"{field}=" in found.profile
