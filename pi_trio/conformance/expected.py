"""What is expected of a subject in a scenario, and whether that can be relied upon.

The runtime is held to what real Pi did: to the recording of the release, or, where a ruling makes the runtime
differ on purpose, to the reviewed golden trace. Everybody else is held to the runtime's own trace; but before
the runtime may serve as a reference it has to agree with its vectors on that very scenario. Where a subject plays a
scenario in a way of its own (`mirror`), the runtime plays it in that way too; nothing was recorded so, and
what cannot be compared then is not offered. Nor is what a release cannot do at all: of that there is no recording.
The one own way that is reviewed is the cancelling abort, which has golden traces of its own (`cancelling`). Who has
nothing else is held to them in all scenarios, who offers both modes in the `twins`.

A profile may be composed of several releases. No release behaves so, but in each single scenario one of them mostly
does, and then its vectors are what the runtime has to agree with. Where none does and a ruling applies, what a release
would do instead is told from what it does (`mixture`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Final, TypeAlias

import attrs

from pi_trio.errors import PiTrioError

from .cancelling import cancel_golden_path, created_by, read_cancel_golden
from .compare import fingerprint
from .keeper import Opener, open_keeper
from .lockstep import Guide, Run
from .mirror import cancelling, mirrored
from .mixture import Untold, carried, entered
from .needs import is_exact, missing, needs
from .protocol import Object
from .ruled import Entry, Golden, golden_path, read_golden
from .scenario import Scenario
from .twins import Twin, written
from .vectors import Vectors


class ReferenceFault(PiTrioError):  # noqa: N818
    """What the tester judges by is not in order. The message says what to do."""


@attrs.frozen
class Unrecorded:
    """Which rulings apply, and where they are entered, if it cannot be told what a release would do instead."""

    rulings: tuple[str, ...]
    enters: int | None


@attrs.frozen(kw_only=True)
class Expectation:
    """What a subject has to show in a scenario.

    Attributes:
        lines: the trace.
        golden: the golden trace behind it, where a ruling makes the runtime differ from the release.
        cancelled: the golden trace behind it, where aborts cancel and that makes the runtime differ from itself.
        scenario: the scenario in the subject's own way, if that is another.
        missing: what would be needed to play it and compare, if that cannot be done.
        mixed: no release behaves as the runtime does here; `golden` is told from one that was recorded.
        unrecorded: what is known where even that cannot be told.
    """

    lines: tuple[Object, ...]
    golden: Golden | None = None
    cancelled: Golden | None = None
    scenario: Scenario | None = None
    missing: tuple[str, ...] = ()
    mixed: bool = False
    unrecorded: Unrecorded | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Equal for expectations that coincide."""
        return fingerprint(self.lines)

    @property
    def rulings(self) -> tuple[str, ...]:
        """The ids of the rulings that apply."""
        known = () if self.unrecorded is None else self.unrecorded.rulings
        return tuple(sorted({*known, *(ruling for golden in self._goldens() for ruling in golden.rulings())}))

    @property
    def enters(self) -> int | None:
        """The line with the command that enters the first of them."""
        known = None if self.unrecorded is None else self.unrecorded.enters
        return min((golden.enters for golden in self._goldens()), default=known)

    @property
    def release_side(self) -> tuple[Object, ...] | None:
        """What the release does instead, where that is known. It never cancels anything."""
        return None if self.golden is None or self.cancelled is not None else self.golden.release_side()

    @property
    def unruled_side(self) -> tuple[Object, ...]:
        """What would be done without the rulings: by the release, or, where aborts cancel, by the runtime itself."""
        golden = self.cancelled or self.golden
        return self.lines if golden is None else golden.release_side()

    def _goldens(self) -> Iterator[Golden]:
        return (golden for golden in (self.golden, self.cancelled) if golden is not None)

    def guides(self) -> tuple[Guide, ...]:
        """What a subject may follow: the runtime, and where a ruling applies the release too."""
        if self.golden is None or self.release_side is None:
            return (Guide(lines=self.lines, order=self.lines),)
        both = [entry.line for entry in self.golden.entries]
        return tuple(Guide(lines=side, order=both) for side in (self.lines, self.release_side))


_InMode: TypeAlias = Callable[[Vectors, str, Scenario, Object], Expectation]

UNRECORDED: Final = "recording in the subject's own way (a ruling applies)"
"""What is missing where a subject may follow the runtime or the release, and only the runtime can be asked."""


class OfOthers:
    """What everybody else has to show: see `expected_of_others`.

    Args:
        opener: opens the runtime.
        scenarios: those that will be asked about; of twins only if the subject plays them.
        releases: those that the profile is composed of, its base first.
    """

    def __init__(
        self, opener: Opener, scenarios: Sequence[Scenario], vectors: Vectors, releases: Sequence[str]
    ) -> None:
        self._opener = opener
        self._scenarios = tuple(each for each in scenarios if not isinstance(each, Twin))
        self._twins = tuple(each for each in scenarios if isinstance(each, Twin))
        self._vectors = vectors
        self._releases = releases
        self._hello: Object = {}
        self._advisory: Mapping[str, Run | Exception] = {}
        self._in_mode(expected_of_runtime, self._scenarios, {})
        self._own: dict[str, Scenario] = {}
        self._own_runs: Mapping[str, Run | Exception] = {}

    async def consult(self) -> None:
        """Run the runtime through all scenarios that are written; before anybody is judged, so that nobody can get in
        its way.
        """
        async with open_keeper(self._opener) as runtime:
            await runtime.start()
            self._hello = runtime.hello
        self._advisory = await consult_runtime(self._opener, self._scenarios)
        self._in_mode(expected_of_runtime, self._scenarios, self._advisory)

    def _in_mode(
        self, expect: _InMode, scenarios: Iterable[Scenario], runs: Mapping[str, Run | Exception]
    ) -> None:
        """Take what the runtime did in one abort mode."""
        self._expect = expect
        self._base = {each.name: each for each in scenarios}
        self._runs = runs

    async def meet(self, hello: Object, rest: Callable[[], Awaitable[None]]) -> None:
        """Run the runtime through the scenarios that this subject plays in a way of its own. Behind `consult`, and
        likewise.

        Args:
            hello: how the subject introduced itself.
            rest: ends the subject until it is needed again.
        """
        features: Object = hello.get("features", {})
        self._in_mode(expected_of_runtime, self._scenarios, self._advisory)
        if features.get("abort") == "cancelling":
            base = [cancelling(each) for each in self._scenarios]
            await rest()
            self._in_mode(expected_of_cancelling, base, await consult_runtime(self._opener, base))
        elif features.get("abort") == "both" and self._twins:
            await rest()
            runs = {**self._advisory, **await consult_runtime(self._opener, self._twins)}
            self._in_mode(expected_in_its_mode, (*self._scenarios, *self._twins), runs)
        pairs = ((each, mirrored(each, features)) for each in self._base.values())
        self._own = {each.name: own for each, own in pairs if own is not each}
        if self._own:
            await rest()
            self._own_runs = await consult_runtime(self._opener, tuple(self._own.values()))

    def of(self, scenario: Scenario) -> Expectation:
        """What is expected in a scenario. Raises: as `expected_of_others`."""
        expected = expected_of_others(
            self._runs, self._vectors, self._releases, scenario, self._hello, self._expect
        )
        base = self._base[scenario.name]
        own = self._own.get(scenario.name)
        if own is None:
            return expected if base is scenario else attrs.evolve(expected, scenario=base)
        run = sound(self._own_runs[scenario.name])
        if fingerprint(run.lines[1:]) == fingerprint(expected.lines[1:]):  # only `create` differs
            golden = expected.golden and attrs.evolve(
                expected.golden, entries=(Entry("=", run.lines[0]), *expected.golden.entries[1:])
            )
            return attrs.evolve(expected, lines=run.lines, golden=golden, scenario=own)
        incomparable = (UNRECORDED,) if expected.rulings else expected.missing
        return Expectation(lines=run.lines, scenario=own, missing=incomparable)


class OfRuntime:
    """What the runtime itself has to show: see `expected_in_its_mode`."""

    def __init__(self, vectors: Vectors, release: str) -> None:
        self._vectors = vectors
        self._release = release
        self._hello: Object = {}

    async def meet(self, hello: Object, _: Callable[[], Awaitable[None]]) -> None:
        """Take note of what it offers under this profile."""
        self._hello = hello

    def of(self, scenario: Scenario) -> Expectation:
        """What is expected in a scenario. Raises: as `expected_in_its_mode`."""
        return expected_in_its_mode(self._vectors, self._release, scenario, self._hello)


def lacking(scenario: Scenario, hello: Object) -> tuple[str, ...]:
    """What a scenario asks for that a release cannot do, given the hello of the release, or of the runtime as it."""
    stimuli = [{"send": command} for command in (scenario.create_command(), *scenario.steps)]
    return missing(needs(scenario, stimuli), hello)


def expected_of_runtime(vectors: Vectors, release: str, scenario: Scenario, hello: Object) -> Expectation:
    """What the runtime has to show: the release's recording, or the golden trace.

    Args:
        hello: what the runtime says of itself as this release.

    Raises:
        ReferenceFault: there is no recording, or it does not fit the scenario or the golden trace.
        VectorError: a file is damaged.
    """
    if lacks := lacking(scenario, hello):
        return Expectation(lines=(), missing=lacks)
    again = f"run `{vectors.command('record', release, scenario.name)}`"
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
            f"{path} does not agree with the recording: "
            f"run `{vectors.command('rule', release, '--ruling', 'ID', scenario.name)}`"
        )
    return Expectation(lines=golden.runtime_side(), golden=golden)


def expected_of_cancelling(vectors: Vectors, release: str, scenario: Scenario, hello: Object) -> Expectation:
    """What the runtime has to show when its aborts cancel: the golden trace of that mode, or, where the two modes do
    not differ, the same as in the other one.

    Args:
        hello: what the runtime says of itself as this release.

    Raises:
        ReferenceFault: as `expected_of_runtime`, or the golden trace does not fit what is expected in the other mode.
        VectorError: a file is damaged.
    """
    advisory = expected_of_runtime(vectors, release, scenario, hello)
    own = cancelling(scenario)
    if advisory.missing:
        return attrs.evolve(advisory, scenario=own)
    cancelled = read_cancel_golden(vectors, release, scenario.name)
    lines = advisory.lines
    if cancelled is not None:
        path = cancel_golden_path(vectors, release, scenario.name)
        if faults := cancelled.faults():
            raise ReferenceFault(f"{path}: {'; '.join(faults)}")
        if fingerprint(cancelled.release_side()) != advisory.fingerprint:
            raise ReferenceFault(
                f"{path} does not agree with the other mode: "
                f"run `{vectors.command('cancel', release, scenario.name)}`"
            )
        lines = cancelled.runtime_side()
    golden = advisory.golden
    if golden is not None:
        theirs = created_by(own, scenario, (entry.line for entry in golden.entries))
        pairs = zip(golden.entries, theirs, strict=True)
        golden = attrs.evolve(golden, entries=tuple(attrs.evolve(entry, line=line) for entry, line in pairs))
    return Expectation(
        lines=created_by(own, scenario, lines), golden=golden, cancelled=cancelled, scenario=own
    )


def expected_in_its_mode(vectors: Vectors, release: str, scenario: Scenario, hello: Object) -> Expectation:
    """What the runtime has to show in a scenario, or in a twin. Arguments and errors as with the two above."""
    if isinstance(scenario, Twin):
        cancelled = expected_of_cancelling(vectors, release, scenario.written, hello)
        return attrs.evolve(cancelled, scenario=scenario)
    return expected_of_runtime(vectors, release, scenario, hello)


async def consult_runtime(opener: Opener, scenarios: Sequence[Scenario]) -> dict[str, Run | Exception]:
    """What the runtime does in each scenario, by name; an exception where it cannot be driven, which `sound` raises.

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
    runs: Mapping[str, Run | Exception],
    vectors: Vectors,
    releases: Sequence[str],
    scenario: Scenario,
    hello: Object,
    expect: _InMode = expected_of_runtime,
) -> Expectation:
    """What everybody else has to show: the runtime's trace.

    Args:
        releases: what the profile is composed of. The runtime has to agree with the vectors of a release; as several of
            them it may do what none does. Of what has no vectors at all none are asked.
        hello: what the runtime says of itself under this profile.
        expect: what the runtime has to show, in the mode in which it was run.

    Raises:
        ReferenceFault: the runtime broke off, or does not agree with its own vectors.
        VectorError: a file is damaged.
    """
    run = sound(runs[scenario.name])
    if lacks := lacking(scenario, hello):
        return Expectation(lines=run.lines, missing=lacks)
    recorded = [release for release in releases if vectors.names(release)]
    ruled: list[Expectation] = []
    for release in recorded:
        if len(releases) > 1 and not vectors.path(release, written(scenario).name).is_file():
            continue
        expected = expect(vectors, release, scenario, hello)
        if expected.fingerprint == fingerprint(run.lines):
            return expected
        if expected.enters is not None:
            ruled.append(expected)
    if recorded and len(releases) == 1:
        raise ReferenceFault(
            "the runtime does not agree with its own vectors: "
            f"`pi-trio conform --profile pi-{releases[0]}` shows where"
        )
    return _of_mixture(run.lines, ruled)


def _of_mixture(lines: tuple[Object, ...], ruled: Sequence[Expectation]) -> Expectation:
    """What has to be shown under a profile that no release behaves as, given what releases do under rulings."""
    for expected in ruled:
        if expected.golden is not None and expected.cancelled is None:
            with suppress(Untold):
                return Expectation(lines=lines, golden=carried(expected.golden, lines), mixed=True)
    known = [Unrecorded(each.rulings, entered(each.lines, each.enters, lines)) for each in ruled]
    best = next((each for each in known if each.enters is not None), known[0] if known else None)
    return Expectation(lines=lines, mixed=best is not None, unrecorded=best)


async def in_its_own_way(
    opener: Opener, scenario: Scenario, hello: Object, rest: Callable[[], Awaitable[None]]
) -> tuple[Scenario, Guide | None]:
    """A scenario as one subject plays it, and what that subject may follow, if it cannot be driven without.

    Raises:
        ReferenceFault: the runtime, which `opener` opens, broke off.
    """
    own = mirrored(scenario, hello.get("features", {}))
    if is_exact(hello):
        return own, None
    await rest()
    run = sound((await consult_runtime(opener, [own]))[own.name])
    return own, Guide(lines=run.lines, order=run.lines)


def sound(run: Run | Exception) -> Run:
    """The run, if the runtime played to the end. Raises: ReferenceFault, or what was kept in the place of the run."""
    if isinstance(run, Exception):
        raise run
    if run.fault is not None:
        raise ReferenceFault(f"the runtime broke off: {run.fault.message}\n{run.fault.stderr}".rstrip())
    return run
