"""OpenAI's Responses API: `OpenAIResponses` asks models by it.

The body of a request (`body.py`) and what the events of an answer mean (`reader.py`) are pure, and serve the Codex
endpoint too.
"""

from __future__ import annotations

from .adapter import OpenAIResponses as OpenAIResponses
