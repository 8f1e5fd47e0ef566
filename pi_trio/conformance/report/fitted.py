"""What a fit has found, as a person sees it, and as one JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from pi_trio.conformance.fitting import Certainty, Explanation, Finding, Fitted
from pi_trio.conformance.protocol import Object, missing_commands
from pi_trio.profile import PROFILES

from .prose import clean, count
from .terminal import say

_WIDTH: Final = 32
"""Characters of a value, at most."""

_NAMES: Final = 5
"""Scenarios that a subject broke off in one way, at most."""

_STDERR: Final = 5
"""Lines of what a subject that broke off wrote on stderr, at most."""

_STYLES: Final = {
    Certainty.LEFT_OUT: "yellow", Certainty.NEAREST: "yellow", Certainty.UNCLEAR: "red",
    Certainty.NOT_OFFERED: "dim", Certainty.UNSHOWN: "dim",
}  # fmt: skip


def show_fitted(
    console: Console, label: str, hello: Object, fitted: Fitted, *, whole: Callable[[str], str]
) -> None:
    """Print a row for each field, what is to be looked at, and last the profile to judge by.

    Args:
        whole: the command that shows a scenario whole.
    """
    say(console, clean(f"{label}: {hello['subject']} {hello['version']}, profile {hello['profile']}"))
    say(console, f"nearest release: {fitted.nearest}; driven through {count(fitted.driven, 'scenario')}")
    console.print()
    headings = ("field", "behaves as", "value", f"{fitted.base} has", "seen in")
    rows = [(headings, "bold")] + [
        (_row(finding, fitted), _style(finding, fitted.base)) for finding in fitted.findings
    ]
    widths = [max(len(row[column]) for row, _ in rows) for column in range(len(headings) - 1)]
    for row, style in rows:
        padded = [f"{cell:{width}}" for cell, width in zip(row, widths, strict=False)]
        console.print(Text("  ".join([*padded, row[-1]]).rstrip(), style=style), soft_wrap=True)
    console.print()
    for finding in fitted.findings:
        if finding.told in _TELLS and not finding.broken:
            say(console, f"{finding.field}: {_TELLS[finding.told]}; see {whole(finding.scenarios[-1])}")
    counts = Counter(finding.told for finding in fitted.findings)
    for ends, names in _breaks(fitted).items():
        fault = fitted.broken[names[0]]
        listed = ", ".join(names[:_NAMES]) + (", …" if len(names) > _NAMES else "")
        say(console, clean(f"{ends} in {listed}: {fault.message}; see {whole(names[0])}"))
        for line in fault.stderr.rstrip().splitlines()[-_STDERR:]:
            say(console, clean(f"  {line}"))
    if lacks := missing_commands(hello):
        say(console, f"missing required commands: {', '.join(lacks)}")
    say(console, ", ".join(f"{counts[told]} {told}" for told in Certainty if counts[told]))
    if fitted.base != fitted.nearest:
        say(
            console,
            f"this starts from {fitted.base}, which it says it is. It is most like {fitted.nearest}; started as that "
            f"(--profile {fitted.nearest}) it may do something else",
        )
    doubts = [
        f"{count(number, 'field')} {'is' if number == 1 else 'are'} {what}"
        for what, number in (("unclear", counts[Certainty.UNCLEAR]), ("a guess", len(fitted.guesses())))
        if number
    ]
    unsure = f"not sure, {', '.join(doubts)}: " if doubts else "" if fitted.tells else "nothing was told: "
    say(console, f"{unsure}--profile {fitted.profile}")


def _breaks(fitted: Fitted) -> dict[str, list[str]]:
    """The scenarios that the subject broke off, by the way in which it did."""
    found: dict[str, list[str]] = {}
    for name, fault in fitted.broken.items():
        found.setdefault(fault.end.upper(), []).append(name)
    return found


_TELLS: Final = {
    Certainty.LEFT_OUT: "it leaves out what the others say; so does who is not complete yet, which makes it a guess",
    Certainty.NEAREST: "it does as none of the releases; what it does is nearest to this one's, which is a guess",
    Certainty.UNCLEAR: "it does as none of the releases",
}


def _row(finding: Finding, fitted: Fitted) -> tuple[str, ...]:
    base = fitted.base
    own = getattr(PROFILES[base], finding.field)
    if not finding.matters:
        breaks = [f"{fitted.broken[name].end.upper()} in {name}" for name in finding.broken[-1:]]
        why = ", ".join([*finding.missing, *breaks])
        seen = f"{finding.told}: {why}" if why else str(finding.told)
        return finding.field, "?", "", value_text(own), seen
    value = " or ".join(
        dict.fromkeys(value_text(getattr(PROFILES[name], finding.field)) for name in finding.releases)
    )
    same = "the same" if base in finding.releases else value_text(own)
    releases = releases_text(finding.releases)
    if finding.told.is_guess:
        releases = f"{releases}?"
    return finding.field, releases, value, same, finding.scenarios[-1]


def _style(finding: Finding, base: str) -> str:
    if finding.told is Certainty.SHOWN and base not in finding.releases:
        return "bold"
    return _STYLES.get(finding.told, "")


def releases_text(profiles: Sequence[str]) -> str:
    """Profiles of releases in few characters: neighbours as a range."""
    known = list(PROFILES)
    runs: list[list[str]] = []
    for name in profiles:
        if runs and known.index(name) == known.index(runs[-1][-1]) + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(
        "–".join(PROFILES[name].release for name in dict.fromkeys([run[0], run[-1]])) for run in runs
    )


def value_text(value: Any) -> str:
    """A field's value in few characters."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = (", ".join(value) or "nothing") if isinstance(value, tuple) else str(value)
    return text if len(text) <= _WIDTH else f"…{text[1 - _WIDTH :]}"


def fitted_document(label: str, hello: Object, fitted: Fitted) -> Object:
    """What was found, fit for `print_json`."""
    return {
        "subject": label,
        "hello": hello,
        "nearest": fitted.nearest,
        "base": fitted.base,
        "profile": fitted.profile,
        "driven": fitted.driven,
        "fields": [
            {
                "field": finding.field,
                "told": str(finding.told),
                "profiles": list(finding.releases),
                "scenarios": list(finding.scenarios),
                **({"missing": list(finding.missing)} if finding.missing else {}),
                **({"broken": list(finding.broken)} if finding.broken else {}),
            }
            for finding in fitted.findings
        ],
        "broken": [
            {"scenario": name, "end": fault.end, "message": fault.message, "stderr": fault.stderr}
            for name, fault in fitted.broken.items()
        ],
    }


def explained(explanation: Explanation) -> Object:
    """What explains failures, fit for `print_json`."""
    return {
        "nearerTo": explanation.profile,
        "fields": [
            {"field": each.field, "profiles": list(each.releases), "scenarios": list(each.scenarios)}
            for each in explanation.concerns
        ],
        "scenarios": list(explanation.vanished),
    }


def show_explanation(console: Console, judged_as: str, explanation: Explanation) -> None:
    """Print which fields of the profile explain failures, after a judgement."""
    wholly = len(explanation.vanished)
    headline = f"{count(wholly, 'failure')} {'is' if wholly == 1 else 'are'} what other releases do, and nothing else:"
    console.print(Text(headline, style="bold"), soft_wrap=True)
    width = max(len(concern.field) for concern in explanation.concerns)
    for concern in explanation.concerns:
        examples = ", ".join(concern.scenarios[:3]) + (", …" if len(concern.scenarios) > 3 else "")
        releases = releases_text(concern.releases)
        say(
            console,
            f"  {concern.field:{width}}  as {releases}: shows in {len(concern.scenarios)} ({examples})",
        )
    if {name for concern in explanation.concerns for name in concern.scenarios} - {*explanation.vanished}:
        say(
            console,
            "  a failure in which a field shows may have other causes too, and is not counted above then",
        )
    say(console, f"  judged as {judged_as}; it is nearer to --profile {explanation.profile}")
    console.print()
