"""Runs cases against real Pi and this package, with what a test or the command line needs around that."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from pi_trio.conformance.subjects.pi_releases import ensure_pi

from .cases import Case
from .lockstep import Outcome, run_cases
from .our_side import OurSide
from .pi_side import open_pi


@attrs.frozen
class Trusted:
    """A server certificate for the loopback: the server's context, and the authority's certificate as a file."""

    context: ssl.SSLContext
    authority: Path


async def against_pi(
    cases: Sequence[Case],
    release: str,
    *,
    itself: bool = False,
    trusted: Trusted | None = None,
    report: Callable[[int], None] | None = None,
) -> list[Outcome]:
    """The outcomes of the cases.

    Args:
        itself: real Pi stands on both sides.
        trusted: what the cases with `{tls}` in their base URL need. This package's side finds it in `SSL_CERT_FILE`.
        report: called with the number of cases that are done.
    """
    pi = await ensure_pi(release, report=print)
    environment = {} if trusted is None else {"NODE_EXTRA_CA_CERTS": os.fspath(trusted.authority)}
    real = partial(open_pi, pi, environment)
    ours: AbstractAsyncContextManager[Any] = real() if itself else nullcontext(OurSide(release))
    tls = None if trusted is None else trusted.context
    return await run_cases(cases, release, real(), ours, tls=tls, report=report)
