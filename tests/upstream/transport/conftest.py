"""A certificate for the loopback, which real Pi and this package both trust."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from pi_trio.models import http

from .running import Trusted


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trusted]:
    """A server's context, and the authority as a file that `SSL_CERT_FILE` names."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    # Whom to trust is read once for all requests: those before this test, and after it, trust others.
    http.trusted_context.cache_clear()
    yield Trusted(context, file)
    http.trusted_context.cache_clear()
