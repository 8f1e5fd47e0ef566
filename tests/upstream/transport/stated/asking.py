"""What is asked: the body of a request, and what becomes of a conversation in it."""

from __future__ import annotations

from typing import Any

from .case import TOOL, USER, Stated, for_each, state
from .reading import HELLO
from .speech import ANTHROPIC, CHAT, RESPONSES, Api, Text

_IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
_USED = {
    "input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}  # fmt: skip


def _said(by: Api, *content: dict[str, Any], reason: str = "stop", **fields: Any) -> dict[str, Any]:
    """A message of an assistant, by the model that is asked unless `fields` say otherwise."""
    made = {"api": by.name, "provider": by.provider, "model": "model-1", **fields}
    return {
        "role": "assistant",
        "content": list(content),
        **made,
        "usage": _USED,
        "stopReason": reason,
        "timestamp": 2,
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _call(call: str = "call_1") -> dict[str, Any]:
    return {"type": "toolCall", "id": call, "name": "read", "arguments": {"path": "a.txt"}}


def _result(call: str = "call_1", *content: dict[str, Any]) -> dict[str, Any]:
    told = list(content) or [_text("done")]
    return {
        "role": "toolResult",
        "toolCallId": call,
        "toolName": "read",
        "content": told,
        "isError": False,
        "timestamp": 3,
    }


def _user(text: str) -> dict[str, Any]:
    return {**USER, "content": text, "timestamp": 4}


def _ask(
    api: Api, name: str, title: str, *messages: dict[str, Any], tools: bool = True, **more: Any
) -> Stated:
    """A case whose request is what counts."""
    context = {
        "systemPrompt": "Be brief.",
        "messages": list(messages),
        **({"tools": [TOOL]} if tools else {}),
    }
    return state(api, name, title, api.words([Text(["ok"])]), context=context, **more)


_OTHER = {"api": "other-api", "provider": "other", "model": "other-1"}
_SIGNED = {
    "anthropic": "c2ln",
    "chat": "reasoning_content",
    "responses": (
        '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],'
        '"encrypted_content":"c2ln"}'
    ),
}


def _thought(api: Api) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "Hm.", "thinkingSignature": _SIGNED[api.short]}


CASES: list[Stated] = [
    *for_each(
        lambda api: _ask(
            api,
            "whole_turn",
            "A prompt, a tool, and a turn with a call.",
            USER,
            _said(api, _text("Sure."), _call(), reason="toolUse"),
            _result(),
        )
    ),
    *for_each(
        lambda api: _ask(
            api,
            "call_without_result",
            "A call that nobody has answered.",
            USER,
            _said(api, _call("call_1"), _call("call_2"), reason="toolUse"),
            _result("call_1"),
            _user("Go on"),
        )
    ),
    *for_each(
        lambda api: _ask(
            api,
            "failed_turns",
            "Answers that failed or were aborted.",
            USER,
            _said(api, _text("Half an ans"), reason="error", errorMessage="terminated"),
            _user("Again"),
            _said(api, _text("Hal"), reason="aborted", errorMessage="Request was aborted"),
            _user("And again"),
        )
    ),
    *for_each(
        lambda api: _ask(
            api,
            "own_thinking",
            "Thinking of the model that is asked.",
            USER,
            _said(api, _thought(api), _text("Hi")),
            _user("Go on"),
            model={"reasoning": True},
        )
    ),
    *for_each(
        lambda api: _ask(
            api,
            "foreign_thinking",
            "Thinking of another model.",
            USER,
            _said(api, _thought(api), _text("Hi"), **_OTHER),
            _user("Go on"),
            model={"reasoning": True},
        ),
        [ANTHROPIC, CHAT],
    ),
    *for_each(
        lambda api: _ask(
            api,
            "image",
            "An image for a model that can see.",
            {**USER, "content": [_text("Look"), _IMAGE]},
            tools=False,
        ),
        [CHAT],
    ),
    *for_each(
        lambda api: _ask(
            api,
            "image_for_the_blind",
            "Images for a model that cannot see.",
            {**USER, "content": [_text("Look"), _IMAGE, _IMAGE]},
            _said(api, _call(), reason="toolUse"),
            _result("call_1", _IMAGE),
            model={"input": ["text"]},
        )
    ),
    *for_each(
        lambda api: _ask(
            api, "lone_surrogate", "A half of a character.", {**USER, "content": "a\ud83d b"}, tools=False
        ),
        [ANTHROPIC, CHAT],
    ),
    *for_each(
        lambda api: _ask(
            api,
            "simple_limits",
            "A simple request that says nothing of limits, to a model with little room.",
            USER,
            tools=False,
            simple=True,
            model={"contextWindow": 12000},
        ),
        [ANTHROPIC, CHAT],
    ),
    *for_each(
        lambda api: state(
            api,
            "hooks",
            "The hooks of a request, in their order.",
            api.words([HELLO]),
            hooks=["onPayload", "onResponse"],
        ),
        [ANTHROPIC, RESPONSES],
    ),
    *for_each(
        lambda api: _ask(
            api,
            "system_in_the_middle",
            "A system message between a call and its result.",
            USER,
            _said(api, _call(), reason="toolUse"),
            {"role": "system", "content": "New rule.", "timestamp": 3},
            _result(),
            model={"compat": {"supportsMidConvoSystemMessages": True}},
        ),
        [CHAT, RESPONSES],
    ),
]
