"""Pi's proxy protocol, both sides: a server that holds the keys, and clients that ask models through it.

The client POSTs `{model, context, options}` to `/api/stream`, with a bearer token, and is answered with the events of
the response, each a line `data: {…}`. Events come without their partials; the client builds these itself. What the
protocol has no place for does not come through: of a message's fields only its content, its stop reason, its usage,
its error and the provider's thinking level.

`stream_proxy` (`client.py`) is the client: it makes a stream function. `serve_proxy` (`server.py`) is the server, and
`pi-trio serve proxy` its command. Between them and the network everything is bytes and values: `lines.py`,
`reader.py`, `telling.py` and `request.py` know nothing of HTTP.
"""

from __future__ import annotations

from .client import AuthToken as AuthToken
from .client import stream_proxy as stream_proxy
