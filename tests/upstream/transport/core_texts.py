"""Texts of failures: such as providers and transports say, and what becomes of them when something is changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

#: At least one for each word that a release looks for, and some that only sound like one.
TEXTS: Final = (
    "prompt is too long: 213462 tokens > 200000 maximum",
    '413 {"error":{"type":"request_too_large"}}',
    "Input is too long for requested model.",
    "Your input exceeds the context window of this model",
    "count exceeds the model's maximum context length of 131,072 tokens",
    "Input length (265330) exceeds model's maximum context length (262144).",
    "exceeds maximum context length \u00a0(262144)",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "Please reduce the length of the messages or completion",
    "This endpoint's maximum context length is 4096 tokens. However, you asked for more",
    "Input length 9 exceeds the maximum allowed input length of 8 tokens.",
    "The input (9 tokens) is longer than the model's context length (8 tokens).",
    "prompt token count of 9 exceeds the limit of 8",
    "the request exceeds the available context size, try increasing it",
    "tokens to keep from the initial prompt is greater than the context length",
    "invalid params, context window exceeds limit",
    "Your request exceeded model token limit: 8 (requested: 9)",
    "Prompt contains 9 tokens ... too large for model with 8 maximum context length",
    "model_context_window_exceeded",
    "prompt too long; exceeded max context length by 3 tokens",
    "context_length_exceeded",
    "context length exceeded",
    "Too many tokens",
    "token limit exceeded",
    "400 status code (no body)",
    "413 (no body)",
    "400\u2003(no body)",
    "Prompt has 9,000 tokens, but the configured context size is 8,192 tokens",
    "Range of input length should be [1, 9]",
    '{"code":"1261","message":"Prompt too long"}',
    '{"code":"1261","message":"Prompt exceeds max length"}',
    "litellm.ContextWindowExceededError: Context Window exceeded for given call.",
    'github-copilot API error (413): {"message":"failed to parse request","code":""}',
    "413 Payload Too Large",
    "413\ufeffPayload",
    "413",
    "413\n",
    "4131",
    "Throttling error: Too many tokens",
    "Service unavailable: prompt is too long",
    "ThrottlingException: Too many tokens, please wait",
    "rate limit: too many tokens",
    "too many requests; too many tokens",
    '429 {"type":"GoUsageLimitError"}',
    "FreeUsageLimitError overloaded",
    "Monthly usage limit reached, rate limit",
    "enable available balance, timeout",
    "insufficient_quota 429",
    "out of budget 429",
    "quota exceeded 429",
    "billing: overloaded",
    "subscription_sharing_usage_limit_exceeded 429",
    "subscription_sharing_workplace_individual_usage_limit_exceeded 429",
    '429 {"code": "1308"}',
    '429 {"code":13081}',
    "Overloaded",
    "Rate-limit exceeded",
    "ratelimit",
    "Too many requests",
    *(f"{status} something" for status in (429, 500, 502, 503, 504, 520, 524, 418, 501)),
    "error=500.",
    "invalid_request id req_5003",
    "service unavailable",
    "The service is temporarily unavailable",
    "service-is-unavailable",
    "server_error",
    "Internal error",
    "Provider returned error",
    "The upstream provider returned an error",
    "exceeded request buffer limit while retrying upstream",
    "network error",
    "Connection error.",
    "connection refused",
    "Connection lost",
    "Connection closed.",
    "other side closed",
    "fetch failed",
    "getaddrinfo failed",
    "ENOTFOUND",
    "EAI_AGAIN",
    "upstream connect",
    "reset before headers",
    "socket hang up",
    "The socket connection was closed",
    "Request timed out.",
    "time out",
    "timeout",
    "terminated",
    "WebSocket closed 1011 bad",
    "WebSocket error",
    "WebSocket stream closed before response.completed",
    "Responses websocket connection limit reached",
    "Stream ended without finish_reason",
    "Anthropic stream ended before message_stop",
    "OpenAI Responses stream ended before a terminal response event",
    "http2 request did not get a response",
    "Server requested 120s retry delay (max: 60s)",
    "An error occurred, you can retry your request",
    "try your request again",
    "please retry your request",
    "ResourceExhausted",
    "currently experiencing high demand",
    "model is at capacity",
    "subscription_sharing_usage_unavailable",
    "subscription_sharing_user_unavailable",
    "server_busy",
    "our servers are currently busy",
    "unable to forward upstream",
    "upstream request failed",
    "upstream_stream_read_error",
    "the stream was interrupted",
    "HTTP/2 stream failed",
    "http2 stream failed",
    "request to https://x/y failed, reason: ",
    "read ECONNRESET",
    "write EPIPE",
    "connect ETIMEDOUT 1.2.3.4:443",
    "ECONNABORTED",
    "ECONNREFUSED_",
    "connection reset by peer",
    "stream disconnected before completion: stream closed before response.completed",
    "Claude Code's stream from Anthropic was cut short after the reply had begun",
    "pending stream has been canceled",
    "Request was aborted",
    "Unhandled stop reason: x",
    "Provider finish_reason: network_error",
    "no such model",
    "",
)

#: What is put somewhere, or takes the place of a space.
_PIECES: Final = (
    " ", "-", "_", "\n", "\r", "\t", "\u2028", "\u00a0", "\ufeff", "\U0001f600", "\u212a", "\u017f", "a", "9", ",", "(",
    "\n\n", "  ",
)  # fmt: skip


def texts(seed: int, more: int) -> Iterator[str]:
    """All of `TEXTS`, then so many of their changed kin."""
    yield from TEXTS
    draw = random.Random(seed)
    for _ in range(more):
        text = draw.choice(TEXTS)
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            text = _changed(draw, text)
        yield text


def _changed(draw: random.Random, text: str) -> str:
    place = draw.randrange(len(text) + 1)
    match draw.randrange(8):
        case 0:
            return text[:place] + draw.choice(_PIECES) + text[place:]
        case 1:
            return text[:place] + text[place + 1 :]
        case 2:
            return text.replace(" ", draw.choice(_PIECES))
        case 3:
            return text.upper() if draw.random() < 0.5 else text.lower()
        case 4:
            return f"{text}{draw.choice(_PIECES)}{draw.choice(TEXTS)}"
        case 5:
            return f"{draw.choice(_PIECES)}{text}"
        case 6:
            return text[place:]
        case _:
            return text.replace("s", "\u017f").replace("k", "\u212a")
