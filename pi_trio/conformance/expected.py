"""What is expected of a subject in a scenario, and whether that can be relied upon.

The runtime is held to what real Pi did: to the recording of the release, or, where a ruling makes the runtime
differ on purpose, to the reviewed golden trace. Everybody else is held to the runtime's own trace; but before
the runtime may serve as a reference it has to agree with its vectors on that very scenario. Where a subject plays a
scenario in a way of its own (`mirror`), the runtime plays it in that way too; nothing was recorded so, and
what cannot be compared then is not offered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs

from pi_trio.errors import PiTrioError

from .compare import fingerprint
from .keeper import Opener, open_keeper
from .lockstep import Guide, Run
from .mirror import mirrored
from .protocol import Object
from .ruled import Entry, Golden, golden_path, read_golden
from .scenario import Scenario
from .vectors import Vectors


class ReferenceFault(PiTrioError):  # noqa: N818
    """What the tester judges by is not in order. The message says what to do."""


@attrs.frozen(kw_only=True)
class Expectation:
    """What a subject has to show in a scenario.

    Attributes:
        lines: the trace.
        golden: the golden trace behind it, where a ruling applies.
        scenario: the scenario in the subject's own way, if that is another.
        incomparable: what would be needed to compare it in that way, if that cannot be done.
    """

    lines: tuple[Object, ...]
    golden: Golden | None = None
    scenario: Scenario | None = None
    incomparable: str = ""

    @cached_property
    def fingerprint(self) -> str:
        """Equal for expectations that coincide."""
        return fingerprint(self.lines)

    @property
    def rulings(self) -> tuple[str, ...]:
        """The ids of the rulings that apply."""
        return () if self.golden is None else self.golden.rulings()

    def guides(self) -> tuple[Guide, ...]:
        """What a subject may follow: the runtime, and where a ruling applies the release too."""
        if self.golden is None:
            return (Guide(lines=self.lines, order=self.lines),)
        both = [entry.line for entry in self.golden.entries]
        sides = (self.lines, self.golden.release_side())
        return tuple(Guide(lines=side, order=both) for side in sides)


UNRECORDED: Final = "recording in the subject's own way (a ruling applies)"
"""What is missing where a subject may follow the runtime or the release, and only the runtime can be asked."""


class OfOthers:
    """What everybody else has to show: see `expected_of_others`.

    Args:
        opener: opens the runtime.
        scenarios: those that will be asked about.
    """

    def __init__(self, opener: Opener, scenarios: Sequence[Scenario], vectors: Vectors, release: str) -> None:
        self._opener = opener
        self._scenarios = scenarios
        self._vectors = vectors
        self._release = release
        self._runs: Mapping[str, Run | Exception] = {}
        self._own: dict[str, Scenario] = {}
        self._own_runs: Mapping[str, Run | Exception] = {}

    async def consult(self) -> None:
        """Run the runtime through all scenarios; before anybody is judged, so that nobody can get in its way."""
        self._runs = await consult_runtime(self._opener, self._scenarios)

    async def fit(self, hello: Object, rest: Callable[[], Awaitable[None]]) -> None:
        """Run the runtime through the scenarios that this subject plays in a way of its own."""
        pairs = ((each, mirrored(each, hello.get("features", {}))) for each in self._scenarios)
        self._own = {each.name: own for each, own in pairs if own is not each}
        if self._own:
            await rest()
            self._own_runs = await consult_runtime(self._opener, tuple(self._own.values()))

    def of(self, scenario: Scenario) -> Expectation:
        """What is expected in a scenario. Raises: as `expected_of_others`."""
        expected = expected_of_others(self._runs, self._vectors, self._release, scenario)
        own = self._own.get(scenario.name)
        if own is None:
            return expected
        run = _sound(self._own_runs[scenario.name])
        if fingerprint(run.lines[1:]) == fingerprint(expected.lines[1:]):  # only `create` differs
            golden = expected.golden and attrs.evolve(
                expected.golden, entries=(Entry("=", run.lines[0]), *expected.golden.entries[1:])
            )
            return Expectation(lines=run.lines, golden=golden, scenario=own)
        incomparable = UNRECORDED if expected.golden is not None else ""
        return Expectation(lines=run.lines, scenario=own, incomparable=incomparable)


def expected_of_runtime(vectors: Vectors, release: str, scenario: Scenario) -> Expectation:
    """What the runtime has to show: the release's recording, or the golden trace.

    Raises:
        ReferenceFault: there is no recording, or it does not fit the scenario or the golden trace.
        VectorError: a file is damaged.
    """
    again = f"run `pi-trio vectors record --scenario {scenario.name}`"
    recording = vectors.read(release, scenario.name)
    if recording is None:
        raise ReferenceFault(f"there is no recording of it by pi {release}: {again}")
    if recording.scenario != scenario:
        raise ReferenceFault(f"the scenario has changed since pi {release} was recorded: {again}")
    golden = read_golden(vectors, release, scenario.name)
    if golden is None:
        return Expectation(lines=recording.lines)
    path = golden_path(vectors, release, scenario.name)
    if faults := golden.faults():
        raise ReferenceFault(f"{path}: {'; '.join(faults)}")
    if fingerprint(golden.release_side()) != fingerprint(recording.lines):
        raise ReferenceFault(
            f"{path} does not agree with the recording: run `pi-trio vectors rule {scenario.name}`"
        )
    return Expectation(lines=golden.runtime_side(), golden=golden)


async def consult_runtime(opener: Opener, scenarios: Sequence[Scenario]) -> dict[str, Run | Exception]:
    """What the runtime does in each scenario, by name; an exception where it cannot serve as a reference.

    All of it is done before anybody is judged by it, so that no subject can get in its way.
    """
    runs: dict[str, Run | Exception] = {}
    async with open_keeper(opener) as runtime:
        for scenario in scenarios:
            try:
                runs[scenario.name] = await runtime.drive(scenario)
            except Exception as error:
                runs[scenario.name] = error
    return runs


def expected_of_others(
    runs: Mapping[str, Run | Exception], vectors: Vectors, release: str, scenario: Scenario
) -> Expectation:
    """What everybody else has to show: the runtime's trace.

    A release that nothing was recorded of has no vectors to hold the runtime to, and no rulings.

    Raises:
        ReferenceFault: the runtime broke off, or does not agree with its own vectors.
        VectorError: a file is damaged.
    """
    run = _sound(runs[scenario.name])
    if not vectors.names(release):
        return Expectation(lines=run.lines)
    expected = expected_of_runtime(vectors, release, scenario)
    if expected.fingerprint != fingerprint(run.lines):
        raise ReferenceFault("the runtime does not agree with its own vectors: `pi-trio conform` shows where")
    return expected


async def in_its_own_way(
    opener: Opener, scenario: Scenario, hello: Object, rest: Callable[[], Awaitable[None]]
) -> tuple[Scenario, Guide | None]:
    """A scenario as one subject plays it, and what that subject may follow, if it cannot be driven without.

    Raises:
        ReferenceFault: the runtime, which `opener` opens, broke off.
    """
    features: Object = hello.get("features", {})
    own = mirrored(scenario, features)
    exact = hello.get("quiescence", "exact") == "exact" and hello.get("order", "total") == "total"
    if exact and not features.get("keyless"):
        return own, None
    await rest()
    run = _sound((await consult_runtime(opener, [own]))[own.name])
    return own, Guide(lines=run.lines, order=run.lines)


def _sound(run: Run | Exception) -> Run:
    """The run, if the runtime played to the end. Raises: ReferenceFault, or what went wrong."""
    if isinstance(run, Exception):
        raise run
    if run.fault is not None:
        raise ReferenceFault(f"the runtime broke off: {run.fault.message}\n{run.fault.stderr}".rstrip())
    return run
