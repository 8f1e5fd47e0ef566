"""Runs many cases by hand, and prints the figures and what differs.

    python -m tests.upstream.transport --api anthropic-messages --cases 5000 --seed 1 [--release 1.6.0] [--self]
    python -m tests.upstream.transport --token anthropic-messages:1:17 [--write FILE]
    python -m tests.upstream.transport --api anthropic-messages --bodies [--cases 200] [--seed 1]
    python -m tests.upstream.transport --token "body anthropic-messages:1:17"
    python -m tests.upstream.transport --file FILE
    python -m tests.upstream.transport --record [NAME …]

`--shrink` makes the cases that it shows smaller. `--self` puts real Pi on both sides: what differs then is not
determined by the case. A differing case is shown with its token.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path

import trio

from .bodies import body_case, body_cases, stated_cases
from .cases import Case, of_release
from .compare import judge, shown
from .decisions import APIS, RELEASES
from .faults import case_of, cases_of
from .normalise import normalised
from .running import against_pi
from .shrinking import shrunk
from .stated import stated
from .stated.recording import record

#: Of so many cases, each decision must be needed by one.
ENOUGH = 1000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.upstream.transport", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--api", action="append", choices=APIS)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--release", action="append", choices=RELEASES)
    parser.add_argument("--token", help="one case, with all that both sides did")
    parser.add_argument("--file", type=Path, help="the case, or list of cases, in a file")
    parser.add_argument("--write", type=Path, help="write the differing cases there (with --token: the case)")
    parser.add_argument(
        "--bodies", action="store_true", help="compare what is asked, and not what is answered"
    )
    parser.add_argument("--self", action="store_true", dest="itself", help="real Pi on both sides")
    parser.add_argument(
        "--shrink", action="store_true", help="make the differing cases that are shown smaller"
    )
    parser.add_argument("--show", type=int, default=5, help="so many differing cases are shown")
    parser.add_argument(
        "--record", nargs="*", metavar="NAME", help="record the stated cases, or these of them, in the spec"
    )
    chosen = parser.parse_args()
    if chosen.record is not None:
        return _record(chosen.record)

    differing: list[Case] = []
    for release in chosen.release or RELEASES:
        for title, cases in _cases(chosen).items():
            start = time.monotonic()
            outcomes = trio.run(
                partial(against_pi, cases, release, itself=chosen.itself, report=partial(_report, len(cases)))
            )
            judged = judge(outcomes, release)
            took = time.monotonic() - start
            decided = "".join(f", {count} by {name}" for name, count in sorted(judged.decided.items()))
            print(
                f"\r{title} {release}: {len(cases)} cases, {judged.equal} equal{decided}, "
                f"{len(judged.differing)} differing, {took:.1f} s"
            )
            if (
                not chosen.bodies
                and len(cases) >= ENOUGH
                and (stale := judged.stale(release, [cases[0]["api"]]))
            ):
                print(f"never needed here: {', '.join(stale)}")
            for outcome, found in judged.differing[: chosen.show]:
                print(shown(outcome, found))
                if chosen.shrink:
                    small = trio.run(shrunk, outcome.case, release)
                    print(json.dumps(small, indent=1, ensure_ascii=False))
            differing += [outcome.case for outcome, _ in judged.differing]
            if chosen.token:
                for outcome in outcomes:
                    print(json.dumps(of_release(outcome.case, release), indent=1, ensure_ascii=False))
                    for name, side in (("pi", outcome.theirs), ("ours", outcome.ours)):
                        print(
                            f"--- {name}",
                            json.dumps(normalised(side), indent=1, ensure_ascii=False),
                            sep="\n",
                        )
    if chosen.write is not None:
        written = [_named(chosen.token)] if chosen.token else differing
        chosen.write.write_text(json.dumps(written, indent=1), encoding="utf-8")
    return 1 if differing else 0


def _record(names: list[str]) -> int:
    """Record stated cases, all if none is named."""
    cases = stated()
    for vector in record({name: cases[name] for name in names or cases}):
        agreed = "; ".join(", ".join(each.releases) for each in vector.recorded)
        print(f"{vector.name}: {agreed}")
    return 0


def _named(token: str) -> Case:
    if token.startswith("body "):
        api, seed, number = token.removeprefix("body ").split(":")
        return body_case(api, int(seed), int(number))
    return case_of(token)


def _cases(chosen: argparse.Namespace) -> dict[str, list[Case]]:
    if chosen.token:
        return {chosen.token: [_named(chosen.token)]}
    if chosen.file:
        read = json.loads(chosen.file.read_text(encoding="utf-8"))
        return {chosen.file.name: read if isinstance(read, list) else [read]}
    apis = chosen.api or APIS
    if chosen.bodies:
        return {
            f"{api} bodies": [*stated_cases(api), *body_cases(api, chosen.seed, chosen.cases)] for api in apis
        }
    return {api: list(cases_of(api, chosen.seed, chosen.cases)) for api in apis}


def _report(total: int, done: int) -> None:
    if done % 100 == 0 and sys.stdout.isatty():
        print(f"\r{done} of {total}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
