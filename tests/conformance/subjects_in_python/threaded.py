"""A subject with a real thread for each call of a batch, and for each update on its way: what happens side by side
comes in any order. With `--hurried` it replies at once, and says the rest when it comes to it.
"""

from __future__ import annotations

import sys

from .stages import Threads
from .wire import serve


def main() -> None:
    serve("threaded", Threads, hurried="--hurried" in sys.argv, order="partial", features={"burst": False})


if __name__ == "__main__":
    main()
