"""The Codex endpoint of ChatGPT: the Responses API over a WebSocket, or over server-sent events where that fails.

`CodexResponses` asks models by it; `CodexSessions` keeps sockets from one request of a session to the next.
"""

from __future__ import annotations

from .adapter import CodexResponses as CodexResponses
from .sessions import CodexSessions as CodexSessions
