"""A subject whose listeners are plain functions: they are called, and nobody waits for them. One strand runs at a
time, so the order is Pi's own.
"""

from __future__ import annotations

from .stages import Turns
from .wire import serve


def main() -> None:
    serve("synchronous", Turns, features={"burst": False, "listeners": "sync"})


if __name__ == "__main__":
    main()
