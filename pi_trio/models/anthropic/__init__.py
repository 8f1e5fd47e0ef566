"""Anthropic's Messages API: `AnthropicMessages` asks models by it.

The body of a request (`body.py`) and what the events of an answer mean (`reader.py`) are pure; only `adapter.py` waits
for anything.
"""

from __future__ import annotations

from .adapter import AnthropicMessages as AnthropicMessages
