"""`python -m pi_trio.cli`: the same as `pi-trio`."""

from __future__ import annotations

import sys

from pi_trio.cli import main

sys.exit(main())
