"""`pi-trio serve proxy`: lets others ask models by Pi's proxy protocol, who need no key but a token."""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import sys
from typing import Any, Final

import attrs
import trio

from pi_trio.models.proxy.request import PATH
from pi_trio.models.proxy.server import BadTokenError, NotOnLoopbackError, Offer, Served, serve_proxy

from .chosen_model import PROXY_TOKEN, SCRIPTED, base_url_argument, choose
from .run_view import visible
from .usage import UsageError, quiet_log, verbose_argument

USAGE: Final = 2

_MORE: Final = """\
Listens on this machine only, and answers who shows the token, as Pi's `streamProxy` does:

  streamProxy(model, context, { ...options, proxyUrl, authToken })              in Pi
  Agent(model=model, stream_fn=stream_proxy(proxy_url, auth_token))             in pi_trio

A model that is not named by --model is not to be had, whatever keys there are. Without
--model it is the scripted one. A page in a browser may ask only if --origin names it.

The token may also be in PI_TRIO_PROXY_TOKEN: --token shows it to who lists processes.

examples:
  pi-trio serve proxy
  pi-trio serve proxy --port 8017 --model anthropic/claude-sonnet-4-5 --model openai/gpt-5.4
  pi-trio serve proxy --origin http://localhost:5173
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    parser.add_argument("what", metavar="proxy", choices=("proxy",), help="what to serve")
    parser.add_argument(
        "--host", default="127.0.0.1", help="an address of the loopback (default: %(default)s)"
    )
    parser.add_argument("--port", type=int, default=0, help="default: any that is free")
    parser.add_argument("--token", help="what clients have to show (default: a new one, which is printed)")
    parser.add_argument("--model", metavar="PROVIDER/ID", action="append", help="offer it; may be repeated")
    base_url_argument(parser)
    parser.add_argument("--origin", metavar="URL", action="append", default=[], help="a page that may ask")
    verbose_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    try:
        with quiet_log(verbose=options.verbose):
            trio.run(_serve, options)
    except (UsageError, NotOnLoopbackError, BadTokenError) as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"cannot listen at {options.host} port {options.port}: {error.strerror}")
    return 0


async def _serve(options: argparse.Namespace) -> None:
    if not 0 <= options.port < 2**16:  # the system would take what is left of it
        raise UsageError(f"there is no port {options.port}")
    token = os.environ.get(PROXY_TOKEN) or None if options.token is None else options.token
    if token is None:
        if sys.stdout is None:  # a shell has closed it
            raise UsageError(f"nobody would learn the token: standard output is closed; set {PROXY_TOKEN}")
        token = secrets.token_urlsafe(24)
    chosen = [await choose(name, base_url=options.base_url) for name in options.model or [SCRIPTED]]
    await serve_proxy(
        [Offer(each.model, each.ask) for each in chosen],
        token=token,
        host=options.host,
        port=options.port,
        origins=options.origin,
        on_served=_note,
        task_status=_Announcing(
            token if options.token is None else "(as given)", [each.name for each in chosen]
        ),
    )


@attrs.frozen
class _Announcing:
    """Is told that the server listens, and tells how it is asked."""

    token: str
    models: list[str]

    def started(self, value: Any = None) -> None:
        """It listens."""
        listeners: list[trio.SocketListener] = value
        host, port, *_ = listeners[0].socket.getsockname()
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        print(f"proxy: {url}  (POST {PATH})")
        print(f"token: {self.token}")
        print(f"models: {', '.join(self.models)}")
        asking = shlex.join(["pi-trio", "run", "--proxy", url, "--model", self.models[0], "Hello"])
        print(f"ask: {PROXY_TOKEN}=TOKEN {asking}", flush=True)


def _note(served: Served) -> None:
    """A line for each request, for who looks on."""
    print(visible(" ".join(filter(None, (str(served.status), served.model, served.ending)))), file=sys.stderr)


def _complain(message: str) -> int:
    print(f"pi-trio: {visible(message)}", file=sys.stderr)
    return USAGE
