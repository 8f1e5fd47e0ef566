"""How a subject in Python is asked, and how it answers: a line of JSON for each run. Needs nothing but Python."""

from __future__ import annotations

import gc
import json
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import TypeAlias, cast

from benchmarks.workloads import WORKLOADS, Manner, Workload

Run: TypeAlias = Callable[[Workload, Manner], int]
"""Does the workload, and gives the number of events that the first subscriber has heard."""


def serve(run: Run, *packages: str) -> None:
    """Do what the command line asks for: `WORKLOAD MANNER SIZE TIMES`.

    The first line of the answer names versions, each further one tells of a run: events, seconds, and seconds of the
    processor.
    """
    name, manner, size, times = sys.argv[1:]
    workload = WORKLOADS[name].of_size(int(size))
    versions = [f"{package} {version(package)}" for package in packages]
    tell(versions=", ".join([f"{platform.python_implementation()} {platform.python_version()}", *versions]))
    for _ in range(int(times)):
        gc.collect()
        began, began_cpu = time.perf_counter(), time.process_time()
        events = run(workload, cast("Manner", manner))
        tell(events=events, seconds=time.perf_counter() - began, cpu=time.process_time() - began_cpu)


def tell(**what: object) -> None:
    """A line of the answer."""
    print(json.dumps(what), flush=True)
