"""What a subject's code runs on: strands, and the boxes that they wait for.

Both stages use threads, because the loop is written in blocking style. `Threads` lets all of them run at once;
`Turns` lets one run at a time, first in, first out, so that the order is Pi's own.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any


class Box:
    """Holds one value, some time; whoever waits for it goes on then."""

    def __init__(self) -> None:
        self.filled = False
        self.value: Any = None
        self.waiting: list[Any] = []


class Threads:
    """All strands run at once. `settle` counts them: who waits was counted out by itself, and is counted in again by
    whoever fills the box, before it can run. A strand begins a little late, so that they overtake each other even on
    an idle machine.
    """

    def __init__(self) -> None:
        self._monitor = threading.Condition()
        self._busy = 0

    def start(self, body: Callable[[], None]) -> None:
        with self._monitor:
            self._busy += 1
        threading.Thread(target=self._run, args=(body,), daemon=True).start()

    def _run(self, body: Callable[[], None]) -> None:
        try:
            time.sleep(random.random() / 2000)
            body()
        finally:
            with self._monitor:
                self._busy -= 1
                self._monitor.notify_all()

    def wait(self, box: Box) -> Any:
        with self._monitor:
            if not box.filled:
                box.waiting.append(None)
                self._busy -= 1
                self._monitor.notify_all()
                self._monitor.wait_for(lambda: box.filled)
            return box.value

    def fill(self, box: Box, value: Any) -> None:
        with self._monitor:
            box.filled, box.value = True, value
            self._busy += len(box.waiting)
            box.waiting.clear()
            self._monitor.notify_all()

    def settle(self) -> None:
        with self._monitor:
            self._monitor.wait_for(lambda: self._busy == 0)


class Turns:
    """One strand runs at a time, in the order in which they became able to."""

    def __init__(self) -> None:
        self._ready: deque[threading.Semaphore] = deque()
        self._gates = threading.local()
        self._yielded = threading.Semaphore(0)

    def start(self, body: Callable[[], None]) -> None:
        gate = threading.Semaphore(0)
        self._ready.append(gate)
        threading.Thread(target=self._run, args=(gate, body), daemon=True).start()

    def _run(self, gate: threading.Semaphore, body: Callable[[], None]) -> None:
        self._gates.own = gate
        gate.acquire()
        try:
            body()
        finally:
            self._yielded.release()

    def wait(self, box: Box) -> Any:
        if not box.filled:
            box.waiting.append(self._gates.own)
            self._yielded.release()
            self._gates.own.acquire()
        return box.value

    def fill(self, box: Box, value: Any) -> None:
        box.filled, box.value = True, value
        self._ready.extend(box.waiting)
        box.waiting.clear()

    def settle(self) -> None:
        while self._ready:
            self._ready.popleft().release()
            self._yielded.acquire()


Stage = Threads | Turns
