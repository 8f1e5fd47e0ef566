"""How a response fails or is aborted, what is tried again, and what a failure's text says."""

from __future__ import annotations

import json

import attrs

from ..cases import ABORT, answer
from .case import Stated, for_each, refusal, state
from .reading import HELLO
from .speech import ANTHROPIC, CHAT, RESPONSES, Api, Text, chunk_of

_BUSY = json.dumps({"error": {"type": "overloaded_error", "message": "Overloaded"}})
_LONG = "prompt is too long: 213462 tokens > 200000 maximum"


def _broken(api: Api) -> list[str]:
    """What a server says in the middle of an answer that it cannot go on with."""
    problem = {"type": "error", "error": {"type": "server_error", "message": "Something broke"}}
    failed = {
        "type": "response.failed",
        "response": {
            "id": "resp_1",
            "status": "failed",
            "error": {"code": "server_error", "message": "Something broke"},
        },
    }
    event = {
        "anthropic": ("error", problem),
        "chat": (None, {"error": problem["error"]}),
        "responses": ("response.failed", failed),
    }
    return [*api.begun([HELLO]), chunk_of(event[api.short])]


def _good(api: Api) -> dict[str, object]:
    return answer(api.words([HELLO]))


_MEANINGS = (
    _LONG,
    "Rate limit reached: too many tokens",
    "Throttling error: Too many tokens",
    "Rate limit reached: insufficient_quota",
    "The server is overloaded",
    "invalid request id req_5003",
    "The upstream provider is at capacity: model is at capacity",
    "socket hang up",
)
"""Texts of refusals: an overflow, what may pass, and what does not."""


def _meanings(api: Api) -> Stated:
    """One refused call for each text."""
    made = state(api, "what_failures_mean", "Refusals whose texts say what they mean.", None, answers=[])
    calls = made.case["calls"] * len(_MEANINGS)
    answers = [refusal(400, json.dumps({"error": {"message": text}})) for text in _MEANINGS]
    return attrs.evolve(made, case={**made.case, "calls": calls, "answers": answers})


CASES: list[Stated] = [
    _meanings(CHAT),
    *for_each(
        lambda api: state(
            api,
            "refused",
            "The server refuses the request.",
            None,
            answers=[
                refusal(400, json.dumps({"error": {"type": "invalid_request_error", "message": "Bad tool"}}))
            ],
        )
    ),
    *for_each(
        lambda api: state(
            api,
            "refused_without_a_word",
            "The server refuses, and says nothing.",
            None,
            answers=[refusal(404, "")],
        ),
        [CHAT],
    ),
    *for_each(
        lambda api: state(
            api,
            "too_long",
            "The request is longer than the model's context.",
            None,
            answers=[
                refusal(400, json.dumps({"error": {"type": "invalid_request_error", "message": _LONG}}))
            ],
        )
    ),
    *for_each(
        lambda api: state(api, "no_key", "There is no key.", None, answers=[], options={"apiKey": None}),
        [ANTHROPIC, RESPONSES],
    ),
    *for_each(
        lambda api: state(api, "fails_in_a_text", "The server fails in the middle of a text.", _broken(api))
    ),
    *for_each(
        lambda api: state(api, "cut_off", "The stream ends in the middle of a text.", api.begun([HELLO]))
    ),
    *for_each(
        lambda api: state(api, "empty_body", "The stream ends before it says anything.", []),
        [ANTHROPIC, CHAT],
    ),
    *for_each(
        lambda api: state(
            api, "aborted_before", "The signal is raised before the request.", None, answers=[], abort=-1
        )
    ),
    *for_each(
        lambda api: state(
            api,
            "aborted_in_a_text",
            "The signal is raised in the middle of a text.",
            [*api.begun([HELLO]), ABORT],
        )
    ),
    *for_each(
        lambda api: state(
            api,
            "tried_once",
            "The server is busy, and nobody has asked for another try.",
            None,
            answers=[refusal(529 if api is ANTHROPIC else 503, _BUSY), _good(api)],
        ),
        [ANTHROPIC],
    ),
    *for_each(
        lambda api: state(
            api,
            "tried_again",
            "The server is busy twice, and answers then.",
            None,
            answers=[
                refusal(503, _BUSY, retry_after_ms="1"),
                refusal(429, _BUSY, retry_after_ms="1"),
                _good(api),
            ],
            options={"maxRetries": 2},
        )
    ),
    *for_each(
        lambda api: state(
            api,
            "not_tried_again",
            "A refusal that another try would not change.",
            None,
            answers=[refusal(400, _BUSY), _good(api)],
            options={"maxRetries": 2},
        ),
        [ANTHROPIC, CHAT],
    ),
    *for_each(
        lambda api: state(
            api,
            "told_to_try_again",
            "The server says itself whether another try may help.",
            None,
            answers=[
                refusal(400, _BUSY, x_should_retry="true", retry_after_ms="1"),
                refusal(503, _BUSY, x_should_retry="false"),
                _good(api),
            ],
            options={"maxRetries": 2},
        ),
        [CHAT],
    ),
    *for_each(
        lambda api: state(
            api,
            "pause_too_long",
            "The server asks for a pause that is too long.",
            None,
            answers=[refusal(429, _BUSY, retry_after="120"), _good(api)],
            options={"maxRetries": 2},
        ),
        [RESPONSES],
    ),
    *for_each(
        lambda api: state(
            api,
            "no_retry_in_a_text",
            "The server fails in the middle of a text, and there are tries left.",
            None,
            answers=[answer(_broken(api)), _good(api)],
            options={"maxRetries": 2},
        ),
        [ANTHROPIC],
    ),
    *for_each(
        lambda api: state(
            api,
            "unknown_reason",
            "The answer stops for a reason that nobody knows.",
            api.words([HELLO], "moonlight"),
        ),
        [ANTHROPIC, CHAT],
    ),
    state(
        ANTHROPIC, "model_refuses", "The model refuses to answer.", ANTHROPIC.words([Text(["I "])], "refusal")
    ),
    state(CHAT, "filtered", "The answer is filtered.", CHAT.words([HELLO], "content_filter")),
    state(
        RESPONSES,
        "deltas_without_a_part",
        "Pieces of a text whose part was not told.",
        [each for each in RESPONSES.words([HELLO]) if "content_part" not in each],
    ),
]
