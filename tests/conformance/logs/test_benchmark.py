"""The benchmark of logs: what it makes is conformant and the same whenever it is made, and it prints its table."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.check import HEAD, Maker, make_log

from .judging import judge

CHECKOUT = Path(__file__).parents[3]


@pytest.mark.parametrize("whole", [False, True])
def test_a_log_is_the_same_whenever_it_is_made(tmp_path: Path, whole: bool) -> None:
    for name in ("one", "two"):
        make_log(tmp_path / name, 200_000, whole=whole)
    log = (tmp_path / "one").read_bytes()
    assert log == (tmp_path / "two").read_bytes()
    assert len(log) >= 200_000
    done, remarks = judge(log, complete=True)
    assert (remarks, done.profiles) == ([], {"pi-1.6.0"})


def test_its_runs_are_not_alike() -> None:
    maker = Maker(whole=False)
    lengths = {sum(1 for _ in maker.run()) for _ in range(20)}
    assert len(lengths) > 10
    assert len({str(list(islice(maker.run(), 3))) for _ in range(20)}) == 20


def test_it_prints_its_table() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/check.py", "--quick"],
        cwd=CHECKOUT, text=True, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in rows[0]] == list(HEAD)
    assert len(rows) == 2 + 4
