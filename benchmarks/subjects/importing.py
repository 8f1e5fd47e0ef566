"""What a statement of import costs in a process that has imported nothing yet."""

from __future__ import annotations

import json
import sys
import time

if __name__ == "__main__":
    before = set(sys.modules)
    began, began_cpu = time.perf_counter(), time.process_time()
    exec(sys.argv[1])  # one of the statements of run.py
    seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    new = set(sys.modules) - before
    print(
        json.dumps({"seconds": seconds, "cpu": cpu, "modules": len(new), "hypothesis": "hypothesis" in new})
    )
