"""OpenAI's Chat Completions API: `OpenAIChat` asks models by it, wherever they are.

Many endpoints speak it: gateways, other companies, and the servers that one runs oneself (llama.cpp, Ollama, vLLM).
What each of them can do is in `compat.py`. The body of a request (`body.py`) and what the chunks of an answer mean
(`reader.py`) are pure.
"""

from __future__ import annotations

from .adapter import OpenAIChat as OpenAIChat
