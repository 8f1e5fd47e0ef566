"""The version, in one place: read by the build, by `pi-trio --version` and by `hello`."""

from __future__ import annotations

__version__ = "0.1.0"
